/** The Temporal server of the demo: a configured one, the one that runs on the data folder, or a new one. */
import {
  findServer,
  leftBehind,
  NAMESPACE,
  runningServer,
  startServer,
  type Environment,
  type FoundServer,
  type OnProgress,
} from '../../devserver/index.js';

export interface DemoServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | undefined;
  readonly how: 'configured' | 'running' | 'started';
  /** Databases in the folder that only another version of the server can open. */
  readonly leftBehind: readonly string[];
  stop(): Promise<void>;
}

export interface ServerWanted {
  readonly home: string;
  readonly environment: Environment;
  readonly onProgress: OnProgress;
}

export async function demoServer(wanted: ServerWanted): Promise<DemoServer> {
  const { home, environment } = wanted;
  const running = await runningServer(home);
  if (environment['HOLDFAST_ADDRESS'] === undefined && running?.orphaned === false) {
    const { address, uiUrl } = running;
    return {
      address,
      namespace: NAMESPACE,
      uiUrl,
      how: 'running',
      leftBehind: [],
      stop: nothing,
    };
  }
  const found = await find(wanted);
  if (found.kind === 'address') {
    return {
      address: found.address,
      namespace: environment['HOLDFAST_NAMESPACE'] ?? NAMESPACE,
      uiUrl: undefined,
      how: 'configured',
      leftBehind: [],
      stop: nothing,
    };
  }
  const server = await startServer({
    binary: found,
    dataDir: home,
    environment,
    port: 0,
    uiPort: 0,
  });
  const { address, uiUrl, stop } = server;
  const left = await leftBehind(home, found.versions.server);
  return {
    address,
    namespace: NAMESPACE,
    uiUrl,
    how: 'started',
    leftBehind: left.map(({ file }) => file),
    stop,
  };
}

function find({ environment, onProgress }: ServerWanted): Promise<FoundServer> {
  const address = environment['HOLDFAST_ADDRESS'];
  return findServer({
    environment,
    onProgress,
    settingNames: { address: 'HOLDFAST_ADDRESS', binary: 'HOLDFAST_TEMPORAL' },
    ...(address !== undefined && { address }),
    ...(environment['HOLDFAST_TEMPORAL'] !== undefined && {
      binary: environment['HOLDFAST_TEMPORAL'],
    }),
  });
}

/** A server that somebody else started is theirs to stop. */
function nothing(): Promise<void> {
  return Promise.resolve();
}

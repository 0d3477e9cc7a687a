/**
 * A loopback proxy between a worker and whatever it talks to, for connections that break: a model, a tool's
 * service, a Temporal server.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface TcpProxyOptions {
  /** Where connections go: `host:port`, or a URL whose host is meant. */
  readonly target: string;
}

/** A connection that a test cuts, stalls or refuses. */
export interface TcpProxy {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** The target's URL with the proxy's address in place of its own; of an address, `http://` before it. */
  readonly url: string;
  /** Breaks every open connection, as a reset would; gives how many. New ones are served. */
  cut(): number;
  /** From now on nothing passes in either direction, and nobody is told; new connections are taken. */
  stall(): void;
  /** From now on new connections are broken at once. */
  refuse(): void;
  /** Ends a stall, with everything that was held back, and a refusal. */
  restore(): void;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

type State = 'open' | 'stalled' | 'refusing';

/** Starts a proxy in front of `target`, so that a test can cut, stall or refuse what goes over it. */
export async function startTcpProxy({ target }: TcpProxyOptions): Promise<TcpProxy> {
  const goal = new URL(target.includes('://') ? target : `http://${target}`);
  const pairs = new Set<Pair>();
  let state: State = 'open';
  const server = createServer((near) => {
    if (state === 'refusing') {
      near.resetAndDestroy();
      return;
    }
    const pair: Pair = { near, far: connect(Number(goal.port || 80), goal.hostname) };
    pairs.add(pair);
    join(pair, () => pairs.delete(pair));
    if (state === 'stalled') hold(pair);
  });
  await listen(server);
  const address = `${HOST}:${(server.address() as AddressInfo).port}`;
  const cut = (): number => {
    const count = pairs.size;
    for (const { near, far } of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
    return count;
  };
  return {
    address,
    url: `${goal.protocol}//${address}${goal.pathname === '/' ? '' : goal.pathname}`,
    cut,
    stall() {
      state = 'stalled';
      for (const pair of pairs) hold(pair);
    },
    refuse: () => void (state = 'refusing'),
    restore() {
      state = 'open';
      for (const pair of pairs) flow(pair);
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
    },
  };
}

function join({ near, far }: Pair, gone: () => void): void {
  flow({ near, far });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    // A broken side breaks the other; who broke it does not matter here.
    one.on('error', () => other.destroy());
    one.on('close', () => {
      other.destroy();
      gone();
    });
  }
}

/** A piped socket that is not read holds its sender back, as a full network buffer does. */
function hold({ near, far }: Pair): void {
  near.unpipe(far);
  far.unpipe(near);
  near.pause();
  far.pause();
}

function flow({ near, far }: Pair): void {
  near.pipe(far);
  far.pipe(near);
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
}

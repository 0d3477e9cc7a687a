/** Holdfast as a server of the Model Context Protocol, over a desk of this process. */
import { createDeskApp, type ConsoleOptions, type DeskApp } from '../desk-app.js';
import { deskCall } from './desk-call.js';
import { serveHttp } from './http.js';
import { known, serveStdio, type Streams } from './stdio.js';
import { Refused } from './tool.js';
import { HoldfastError } from '../../core/state/errors.js';

export interface RunningMcpServer {
  /** Over HTTP. */
  readonly url?: string;
  /** Local development over HTTP: logs in as anybody. */
  readonly token?: string;
  /** Over standard input: who calls, as the desk knows it. */
  readonly caller?: string;
  /** Settles when the other side has gone; over HTTP never. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export interface StdioCaller {
  /** Absent: local development, where nobody is told apart. */
  readonly token?: string | undefined;
  readonly as?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly streams?: Streams;
}

/** Errors: InvalidConfig; Usage when the desk does not know the caller. */
export async function startMcpStdio(
  options: ConsoleOptions,
  { token, streams, ...whom }: StdioCaller,
): Promise<RunningMcpServer> {
  const opened = await openApp(options);
  const { app, token: local } = opened.desk;
  const desk = deskCall(app, { token: token ?? local ?? '', ...whom });
  const { id } = await known(desk).catch((error: unknown) => {
    throw error instanceof Refused ? notKnown(local !== undefined) : error;
  });
  const { decisions } = options.settings.mcpServer;
  const { version, say } = options;
  const running = await serveStdio({ desk, decisions, version, say }, streams);
  return {
    caller: String(id),
    ended: running.ended,
    async stop() {
      await running.stop();
      await opened.stop();
    },
  };
}

/** Errors: InvalidConfig, PortTaken. */
export async function startMcpHttp(
  options: ConsoleOptions,
  port: number,
): Promise<RunningMcpServer> {
  const { settings, version, say } = options;
  const { desk, stop } = await openApp(options);
  const { decisions } = settings.mcpServer;
  const { url, stop: close } = await serveHttp({ desk, decisions, settings, port, version, say });
  const { token } = desk;
  return {
    url,
    ...(token !== undefined && { token }),
    ended: new Promise(() => undefined),
    async stop() {
      await close();
      await stop();
    },
  };
}

async function openApp(
  options: ConsoleOptions,
): Promise<{ readonly desk: DeskApp; stop(): Promise<void> }> {
  const ending = new AbortController();
  const desk = await createDeskApp(options, { signal: ending.signal, inProcess: true });
  return {
    desk,
    async stop() {
      ending.abort();
      await desk.desk.owed.stop();
    },
  };
}

function notKnown(isLocal: boolean): HoldfastError {
  return new HoldfastError('Usage', 'The desk does not know the caller, or gives it no role.', {
    hint: isLocal
      ? 'Leave HOLDFAST_TOKEN out, and name a caller of local development with --as and --role.'
      : 'Set HOLDFAST_TOKEN to a service token of console.serviceTokens, or to a token of console.jwt.',
  });
}

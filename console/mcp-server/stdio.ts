/** The server over standard input and output, for one caller: nothing else may be written to standard output. */
import type { DeskCall } from './desk-call.js';
import { loadSdk, loadStdio } from './sdk.js';
import { serverFor, type ServedTo } from './serve-tools.js';
import { taken } from './tool.js';

/** Longest message; a longer one ends the connection. */
const MESSAGE_BYTES_MAX = 1_048_576;
const SUBSCRIPTIONS_MAX = 10;

export interface StdioServer {
  /** Settles when the other side has gone. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Errors: Refused when the desk does not know the caller. */
export async function serveStdio(
  served: ServedTo,
  { input, output }: Streams = { input: process.stdin, output: process.stdout },
): Promise<StdioServer> {
  await known(served.desk);
  const [sdk, stdio] = await Promise.all([loadSdk(), loadStdio()]);
  const ended = new Promise<void>((resolve) => {
    input.once('end', () => resolve());
    input.once('close', () => resolve());
  });
  const transport = new stdio.StdioServerTransport(input as never, output as never, {
    maxBufferSize: MESSAGE_BYTES_MAX,
  });
  const handle = stdio.serveStdio(() => serverFor(sdk, served), {
    transport,
    maxSubscriptions: SUBSCRIPTIONS_MAX,
    onerror: () => served.say('A message could not be used.'),
  });
  return { ended, stop: () => handle.close() };
}

/** Who calls, as the desk knows it. Errors: Refused. */
export async function known(desk: DeskCall): Promise<Readonly<Record<string, unknown>>> {
  return taken(await desk.get('/v1/me'));
}

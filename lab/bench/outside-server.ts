/** What tools visit, in the bench's own process: it notes when they come, and can leave a visit unanswered. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OutsideServer {
  readonly url: string;
  /** Time of the nth visit of a run, from 1, by `performance.now()`. */
  visited(runId: string, nth: number): Promise<number>;
  stop(): Promise<void>;
}

interface Visits {
  readonly times: number[];
  readonly waiting: { readonly nth: number; readonly tell: (time: number) => void }[];
}

/** `leaves`: whether the nth visit of a run gets no answer. */
export async function startOutside(
  leaves: (runId: string, nth: number) => boolean = () => false,
): Promise<OutsideServer> {
  const byRun = new Map<string, Visits>();
  const visitsOf = (runId: string): Visits => {
    const known = byRun.get(runId) ?? { times: [], waiting: [] };
    byRun.set(runId, known);
    return known;
  };
  const server = createServer((request, response) => {
    const time = performance.now();
    void runIdIn(request).then((runId) => {
      const { times, waiting } = visitsOf(runId);
      times.push(time);
      for (const { nth, tell } of waiting) if (nth === times.length) tell(time);
      if (!leaves(runId, times.length)) response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    visited: (runId, nth) =>
      new Promise((tell) => {
        const { times, waiting } = visitsOf(runId);
        const time = times[nth - 1];
        if (time === undefined) waiting.push({ nth, tell });
        else tell(time);
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function runIdIn(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return (JSON.parse(Buffer.concat(chunks).toString('utf8')) as { runId: string }).runId;
}

/**
 * The world that tools act on, in the test's own process, so that it survives a worker's death: it counts
 * what was done, and holds a call at a point until the test lets it go.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Before the effect, the effect itself, after it and before the tool returns; reads, probes and counts. */
export type Phase = 'read' | 'before' | 'effect' | 'after' | 'probe' | 'count';

export interface Visit {
  readonly runId: string;
  readonly phase: Phase;
  readonly tool: string;
  readonly key: string;
}

export interface Service {
  readonly url: string;
  visits(runId: string, phase: Phase): readonly Visit[];
  /** The next call of a run that comes to this point stays there. Resolves when it is there. */
  hold(runId: string, phase: Phase): Promise<void>;
  releaseAll(): void;
  stop(): Promise<void>;
}

interface Hold {
  readonly at: string;
  readonly reached: () => void;
}

export async function startService(): Promise<Service> {
  const visits: Visit[] = [];
  const holds: Hold[] = [];
  let waiting: ServerResponse[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const visit = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Visit;
    visits.push(visit);
    const index = holds.findIndex((hold) => hold.at === `${visit.runId} ${visit.phase}`);
    if (index < 0) return answer(response, visits, visit);
    const [hold] = holds.splice(index, 1);
    response.on('close', () => (waiting = waiting.filter((other) => other !== response)));
    waiting.push(response);
    hold?.reached();
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    visits: (runId, phase) =>
      visits.filter((visit) => visit.runId === runId && visit.phase === phase),
    hold: (runId, phase) =>
      new Promise((reached) => holds.push({ at: `${runId} ${phase}`, reached })),
    releaseAll() {
      for (const response of waiting.splice(0)) response.end('{"released":true}');
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A probe tells whether an effect was seen under the key, a count how many of a goal; everything else is told its number. */
function answer(response: ServerResponse, visits: readonly Visit[], visit: Visit): void {
  const effects = visits.filter(({ phase }) => phase === 'effect').map(({ key }) => key);
  const ofGoal = effects.filter((key) => key.startsWith(`${visit.runId}:`));
  const done =
    visit.phase === 'count'
      ? new Set(ofGoal).size
      : effects.filter((key) => key === visit.key).length;
  response.end(JSON.stringify({ done }));
}

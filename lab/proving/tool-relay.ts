/**
 * Stands between the tools and their service, so that a worker can be killed at the exact moments that
 * matter: before a call reaches the service, and after it took effect but before anybody heard of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { KillSwitch } from './kill-switch.js';
import { isWrite, type Domain } from './domains/domain.js';
import type { PlayedRun } from './played-run.js';
import type { FaultyCalls } from './tool-faults.js';

const BODY_BYTES_MAX = 4 * 1024 * 1024;

export interface ToolRelay {
  readonly url: string;
  stop(): Promise<void>;
}

const callSchema = z.object({ run: z.string(), tool: z.string(), callId: z.string().optional() });

/** What is to happen to the calls of a run. */
export interface RelayedRun {
  readonly run: Pick<PlayedRun, 'calls'>;
  readonly kill: KillSwitch;
  readonly calls: FaultyCalls;
}

export interface Relayed {
  readonly serviceUrl: string;
  readonly domain: Domain;
}

/** Relays everything to the service; `runOf` tells of runs whose calls meet a kill or a fault. */
export async function startToolRelay(
  { serviceUrl, domain }: Relayed,
  runOf: (runId: string) => RelayedRun | undefined,
): Promise<ToolRelay> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const relay = { serviceUrl, domain, counts, runOf };
    // The caller sees a broken connection, which is what a failed relay is to it.
    relayed(relay, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Relay extends Relayed {
  readonly counts: Map<string, number>;
  readonly runOf: (runId: string) => RelayedRun | undefined;
}

async function relayed(
  relay: Relay,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request);
  const call = request.method === 'POST' ? callOf(body) : undefined;
  const fault = call && relay.runOf(call.run)?.calls.tried(call.callId ?? '');
  if (fault === 'refuse') {
    response.writeHead(503).end('{"error":"unavailable"}');
    return;
  }
  const kill = call && killAt(relay, call);
  if (kill?.when === 'before') {
    await kill.by.fire();
    response.destroy();
    return;
  }
  if (kill?.when === 'around') void kill.by.fire();
  const { status, text } = outageOf(relay, call) ?? (await answerTo(relay, request, body));
  if (kill?.when === 'after') {
    await kill.by.fire();
    response.destroy();
    return;
  }
  if (fault === 'lose') {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(text);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** What was recorded of a call whose service was not there: it is not reached here either. */
function outageOf(relay: Relay, call: ReturnType<typeof callOf> | undefined): Answer | undefined {
  const played = call && relay.runOf(call.run)?.run.calls.get(call.callId ?? '');
  if (played?.outage !== true) return undefined;
  const { content, error } = played;
  return { status: 200, text: JSON.stringify({ content, error }) };
}

async function answerTo(relay: Relay, request: IncomingMessage, body: string): Promise<Answer> {
  const answer = await fetch(`${relay.serviceUrl}${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    ...(body !== '' && { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

function callOf(body: string): z.infer<typeof callSchema> {
  return callSchema.parse(JSON.parse(body));
}

/** Whether this call is the one at which its run's worker dies. */
function killAt({ domain, counts, runOf }: Relay, { run, tool }: z.infer<typeof callSchema>) {
  const point = isWrite(domain, tool) ? 'write' : 'read';
  const count = counts.get(`${point} ${run}`) ?? 0;
  counts.set(`${point} ${run}`, count + 1);
  const by = runOf(run)?.kill;
  const when = by?.reached(point, count);
  return by === undefined || when === undefined ? undefined : { by, when };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Stands between the tools and their service, so that a worker can be killed at the exact moments that
 * matter: before a call reaches the service, and after it took effect but before anybody heard of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { KillSwitch } from './kill-switch.js';
import { isWrite, type Domain } from './domains/domain.js';

const BODY_BYTES_MAX = 4 * 1024 * 1024;

export interface ToolRelay {
  readonly url: string;
  stop(): Promise<void>;
}

const callSchema = z.object({ run: z.string(), tool: z.string() });

export interface Relayed {
  readonly serviceUrl: string;
  readonly domain: Domain;
}

/** Relays everything to the service; `switchOf` tells whose kill a run's calls may set off. */
export async function startToolRelay(
  { serviceUrl, domain }: Relayed,
  switchOf: (runId: string) => KillSwitch | undefined,
): Promise<ToolRelay> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const relay = { serviceUrl, domain, counts, switchOf };
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
  readonly switchOf: (runId: string) => KillSwitch | undefined;
}

async function relayed(
  relay: Relay,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request);
  const kill = request.method === 'POST' ? killAt(relay, body) : undefined;
  if (kill?.when === 'before') {
    await kill.by.fire();
    response.destroy();
    return;
  }
  if (kill?.when === 'around') void kill.by.fire();
  const answer = await fetch(`${relay.serviceUrl}${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    ...(body !== '' && { body }),
  });
  const text = await answer.text();
  if (kill?.when === 'after') {
    await kill.by.fire();
    response.destroy();
    return;
  }
  response.writeHead(answer.status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(text);
}

/** Whether this call is the one at which its run's worker dies. */
function killAt({ domain, counts, switchOf }: Relay, body: string) {
  const { run, tool } = callSchema.parse(JSON.parse(body));
  const point = isWrite(domain, tool) ? 'write' : 'read';
  const count = counts.get(`${point} ${run}`) ?? 0;
  counts.set(`${point} ${run}`, count + 1);
  const by = switchOf(run);
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

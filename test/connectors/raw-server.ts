/** A server of the legacy protocol that answers whatever a test wants: what no library would let it answer. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RawServer {
  readonly url: string;
  /** Methods that were asked for, in order. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/**
 * The result of a method; `undefined`: it never answers. A text is sent as it is; `questions` are asked
 * first, and all have to be answered. */
export type RawAnswer = (method: string, params: Record<string, unknown>) => unknown;

const READY = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1' },
};

export async function startRawServer(answer: RawAnswer): Promise<RawServer> {
  const asked: string[] = [];
  let answered = (): void => undefined;
  const http = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
        id?: number;
        method?: string;
        params?: Record<string, unknown>;
      };
      if (method !== undefined) asked.push(method);
      // Notifications, and answers to what it asked.
      if (id === undefined || method === undefined) {
        if (method === undefined) answered();
        response.writeHead(202).end();
        return;
      }
      const reply = (message: object): void => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
      };
      if (method === 'initialize') return reply({ result: READY });
      if (method === 'server/discover') {
        return reply({ error: { code: -32601, message: 'Method not found' } });
      }
      const result = answer(method, params ?? {});
      if (result === undefined) return;
      const { questions } = result as { readonly questions?: readonly object[] };
      if (questions !== undefined) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const tell = (message: object) =>
          response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
        questions.forEach((question, n) => tell({ id: `q${n}`, ...question }));
        let open = questions.length;
        answered = () => {
          if ((open -= 1) > 0) return;
          tell({ id, result: { content: [] } });
          response.end();
        };
        return;
      }
      if (typeof result === 'string') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(result);
        return;
      }
      reply({ result });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

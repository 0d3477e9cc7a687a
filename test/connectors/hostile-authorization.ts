/** A server that wants a token, and its authorization server, on loopback; each can be made to misbehave. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  /** Form of the request for a token. */
  readonly form: URLSearchParams;
  readonly authorization: string;
}

export interface Misbehaviour {
  /** What the authorization server says it is. */
  readonly issuer?: string;
  /** Of the answer to a request for a token; undefined: none ever comes. */
  readonly answer?: (asked: Asked, response: ServerResponse) => void;
  /** Text of a call's result, of the token that it came with. */
  readonly says?: (token: string) => string;
  /** How long tokens live; s. */
  readonly seconds?: number;
}

export interface ProtectedServer {
  readonly url: string;
  readonly issuer: string;
  readonly asked: Asked[];
  /** From now on no token that was given counts. */
  revoke(): void;
  misbehave(how: Misbehaviour): void;
  stop(): Promise<void>;
}

const RESULTS: { readonly [method: string]: object } = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'guarded', version: '1' },
  },
  'tools/list': {
    tools: [{ name: 'it', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  },
};

export async function startProtectedServer(): Promise<ProtectedServer> {
  let how: Misbehaviour = {};
  let given = 0;
  let revoked = 0;
  const asked: Asked[] = [];
  const http = createServer((request, response) => {
    void bodyOf(request).then((body) => respond(request, response, body));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const json = (response: ServerResponse, value: object, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };

  function respond(request: IncomingMessage, response: ServerResponse, body: string): void {
    const path = new URL(request.url ?? '/', origin).pathname;
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (path === '/.well-known/oauth-authorization-server')
      return json(response, {
        issuer: how.issuer ?? origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ['code'],
      });
    if (path === '/token') return giveToken(request, response, body);
    if (path === '/mcp' && request.method === 'POST') return serve(request, response, body);
    response.writeHead(404).end();
  }

  function giveToken(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { authorization = '' } = request.headers;
    const ask = { form: new URLSearchParams(body), authorization };
    asked.push(ask);
    if (how.answer !== undefined) return how.answer(ask, response);
    given += 1;
    json(response, {
      access_token: `access-token-${given}`,
      token_type: 'Bearer',
      expires_in: how.seconds ?? 3_600,
    });
  }

  function serve(request: IncomingMessage, response: ServerResponse, body: string): void {
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    const number = Number(/^access-token-(\d+)$/.exec(token)?.[1] ?? 0);
    if (number <= revoked) {
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="contacts"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end(`no: ${token}`);
      return;
    }
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'server/discover')
      return json(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'none' } });
    const text = how.says?.(token) ?? 'done';
    const result = RESULTS[method] ?? { content: [{ type: 'text', text }] };
    json(response, { jsonrpc: '2.0', id, result });
  }

  return {
    url: `${origin}/mcp`,
    issuer: origin,
    asked,
    revoke() {
      revoked = given;
    },
    misbehave(next) {
      how = next;
    },
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

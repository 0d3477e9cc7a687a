/**
 * A server that wants a token, and its authorization server, on loopback; each can be made to misbehave. A person who visits the
 * authorization server is sent back at once. Refresh tokens count once: the second use of one ends the login.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { proofChecks, type ProofChecks } from './proofs.js';

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
  /** Scope without which no tool can be called. */
  readonly wants?: string;
  /** Overrides fields of what the authorization server says of itself. */
  readonly metadata?: object;
  /** Overrides what the protected resource says of itself. */
  readonly resource?: object;
  /** Overrides what a person is sent back with. */
  readonly sentBackWith?: Readonly<Record<string, string>>;
  /** Text of the one tool's description, of the token that it was asked with. */
  readonly describes?: (token: string) => string;
  /** Tokens are bound to keys (DPoP), and each proof has this nonce where there is one. */
  readonly bound?: { readonly nonce?: string };
  /** Before each answer to a request for a token. */
  readonly slow?: () => Promise<void>;
}

export interface ProtectedServer {
  readonly url: string;
  readonly issuer: string;
  readonly asked: Asked[];
  /** Tokens that were given back. */
  readonly returned: string[];
  readonly registered: object[];
  /** Tools that were called, with the token that each call came with. */
  readonly calls: string[];
  /** From now on no token that was given counts. */
  revoke(): void;
  /** The same of refresh tokens. */
  endLogins(): void;
  /** From now on no client that has registered itself is known. */
  forgetClients(): void;
  misbehave(how: Misbehaviour): void;
  stop(): Promise<void>;
}

/** Of each client that registers itself. */
export const CLIENT_SECRET = 'registered-client-secret';

const TOOL = { name: 'it', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const RESULTS: { readonly [method: string]: object } = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'guarded', version: '1' },
  },
  'tools/list': { tools: [TOOL] },
};

export async function startProtectedServer(): Promise<ProtectedServer> {
  let how: Misbehaviour = {};
  let given = 0;
  let revoked = 0;
  let refreshable = true;
  let forgotten = 0;
  let newestRefresh = '';
  let proofs: ProofChecks | undefined;
  const checks = (): ProofChecks | undefined => how.bound && proofs;
  const scopes = new Map<string, string>();
  const codes = new Map<string, URLSearchParams>();
  const returned: string[] = [];
  const registered: object[] = [];
  const calls: string[] = [];
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
      return json(response, {
        resource: `${origin}/mcp`,
        authorization_servers: [origin],
        ...how.resource,
      });
    if (path === '/.well-known/oauth-authorization-server')
      return json(response, {
        issuer: how.issuer ?? origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        revocation_endpoint: `${origin}/revoke`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...how.metadata,
      });
    if (path === '/authorize') return sendBack(new URL(request.url ?? '/', origin), response);
    if (path === '/register') {
      registered.push(JSON.parse(body) as object);
      const client = { client_id: `client-${registered.length}`, client_secret: CLIENT_SECRET };
      return json(response, { ...(JSON.parse(body) as object), ...client }, 201);
    }
    if (path === '/revoke') {
      returned.push(new URLSearchParams(body).get('token') ?? '');
      return void response.writeHead(200).end();
    }
    if (path === '/token') {
      void (how.slow?.() ?? Promise.resolve()).then(() => giveToken(request, response, body));
      return;
    }
    if (path === '/mcp' && request.method === 'POST') {
      void serve(request, response, body);
      return;
    }
    response.writeHead(404).end();
  }

  async function giveToken(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): Promise<void> {
    const { authorization = '' } = request.headers;
    const ask = { form: new URLSearchParams(body), authorization };
    asked.push(ask);
    if (how.answer !== undefined) return how.answer(ask, response);
    const { form } = ask;
    const key = await checks()?.atTokens(request, `${origin}/token`);
    if (key?.wants !== undefined) {
      response.setHeader('dpop-nonce', how.bound?.nonce ?? '');
      return json(response, { error: key.wants }, 400);
    }
    if (numberOf(clientOf(ask)) <= forgotten)
      return json(response, { error: 'invalid_client' }, 401);
    const grant = form.get('grant_type');
    const code = codes.get(form.get('code') ?? '');
    const isProven = code !== undefined && isProof(code, form);
    const isRefresh = refreshable && form.get('refresh_token') === newestRefresh;
    codes.delete(form.get('code') ?? '');
    if (
      (grant === 'authorization_code' && !isProven) ||
      (grant === 'refresh_token' && !isRefresh)
    ) {
      if (grant === 'refresh_token') refreshable = false;
      return json(response, { error: 'invalid_grant', error_description: body }, 400);
    }
    given += 1;
    const token = `access-token-${given}`;
    const scope = code?.get('scope') ?? scopes.get(`access-token-${given - 1}`) ?? '';
    scopes.set(token, scope);
    if (key !== undefined) proofs?.bind(token, key.thumbprint);
    if (grant === 'authorization_code') refreshable = true;
    newestRefresh = `refresh-token-${given}`;
    json(response, {
      access_token: token,
      token_type: how.bound === undefined ? 'Bearer' : 'DPoP',
      expires_in: how.seconds ?? 3_600,
      ...(grant !== 'client_credentials' && { refresh_token: newestRefresh }),
      ...(scope !== '' && { scope }),
    });
  }

  function sendBack({ searchParams }: URL, response: ServerResponse): void {
    const code = `authorization-code-${codes.size + 1}`;
    codes.set(code, searchParams);
    const back = new URL(searchParams.get('redirect_uri') ?? origin);
    const parameters = { code, state: searchParams.get('state') ?? '', iss: origin };
    for (const [name, value] of Object.entries({ ...parameters, ...how.sentBackWith }))
      back.searchParams.set(name, value);
    response.writeHead(302, { location: back.href }).end();
  }

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): Promise<void> {
    const [scheme = '', token = ''] = (request.headers.authorization ?? '').split(' ');
    const problem = await checks()?.atServer(request, `${origin}/mcp`);
    if (problem !== undefined && token !== '') {
      response.setHeader('dpop-nonce', how.bound?.nonce ?? '');
      const challenge = { 'www-authenticate': `DPoP error="${problem}"` };
      return void response.writeHead(401, challenge).end(`no: ${scheme} ${token}`);
    }
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
    const { wants } = how;
    if (method === 'tools/call') {
      if (wants !== undefined && !scopes.get(token)?.split(' ').includes(wants)) {
        const challenge = `Bearer error="insufficient_scope", scope="${wants}"`;
        return void response.writeHead(403, { 'www-authenticate': challenge }).end(`no: ${token}`);
      }
      calls.push(token);
    }
    const text = how.says?.(token) ?? 'done';
    const description = how.describes?.(token);
    const result =
      method === 'tools/list' && description !== undefined
        ? { tools: [{ ...TOOL, description }] }
        : (RESULTS[method] ?? { content: [{ type: 'text', text }] });
    json(response, { jsonrpc: '2.0', id, result });
  }

  return {
    url: `${origin}/mcp`,
    issuer: origin,
    asked,
    returned,
    registered,
    calls,
    revoke() {
      revoked = given;
    },
    endLogins() {
      refreshable = false;
    },
    forgetClients() {
      forgotten = registered.length;
    },
    misbehave(next) {
      how = next;
      if (next.bound !== undefined) proofs ??= proofChecks(() => how.bound?.nonce);
    },
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

/** As it says in the header, or in the form. */
function clientOf({ form, authorization }: Asked): string {
  const [, coded = ''] = /^Basic (.+)$/.exec(authorization) ?? [];
  return form.get('client_id') ?? Buffer.from(coded, 'base64').toString().split(':')[0]!;
}

/** Of a client that has registered itself; others have none. */
function numberOf(client: string): number {
  return Number(/^client-(\d+)$/.exec(client)?.[1] ?? Infinity);
}

/** RFC 7636. */
function isProof(asked: URLSearchParams, form: URLSearchParams): boolean {
  const digest = createHash('sha256').update(form.get('code_verifier') ?? '');
  return (
    asked.get('code_challenge') === digest.digest('base64url') &&
    asked.get('redirect_uri') === form.get('redirect_uri') &&
    asked.get('resource') === form.get('resource')
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

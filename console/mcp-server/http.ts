/**
 * The server over HTTP (streamable): each request says by its bearer token who calls.
 * Invariants: nothing of a request's body is read before its sender is known; a page of a browser that the
 * configuration does not name reaches nothing, under whatever name it found the way here.
 */
import type { ConsoleSettings } from '../../authoring/index.js';
import { LOCAL_NAMES, type DeskApp } from '../desk-app.js';
import { close, listen } from '../http/listen.js';
import { notAllowed, notFound, Problem, problemResponse } from '../http/problem.js';
import { remoteAddress, trustedProxies } from '../http/remote-address.js';
import { SECURITY_HEADERS } from '../http/security-headers.js';
import { deskCall } from './desk-call.js';
import { loadSdk, type AuthInfo, type McpHandler } from './sdk.js';
import { serverFor, type ServedTo } from './serve-tools.js';

export interface HttpServerOptions extends Omit<ServedTo, 'desk'> {
  readonly desk: Pick<DeskApp, 'app'>;
  readonly settings: ConsoleSettings;
  readonly port: number;
}

export interface HttpServer {
  readonly url: string;
  stop(): Promise<void>;
}

const PATH = '/mcp';
const BODY_BYTES_MAX = 262_144;
const SUBSCRIPTIONS_MAX = 100;
const BEARER = /^Bearer ([\x21-\x7e]{1,8192})$/i;

interface Bindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/** Errors: PortTaken, InvalidConfig. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { settings, desk, decisions, version, say } = options;
  const { host, port } = { host: settings.host, port: options.port };
  const sdk = await loadSdk();
  const handler = sdk.createMcpHandler(
    ({ authInfo }) => {
      const { token = '', extra = {} } = authInfo ?? {};
      const caller = { token, address: String(extra['address']) };
      return serverFor(sdk, { desk: deskCall(desk.app, caller), decisions, version, say });
    },
    {
      maxRequestBodySize: BODY_BYTES_MAX,
      maxSubscriptions: SUBSCRIPTIONS_MAX,
      onerror: () => say('A request could not be served.'),
    },
  );
  const serve = answering(options, handler);
  const { server, port: taken } = await listen(
    (request, bindings) => serve(request, bindings as Bindings),
    {
      ...settings,
      host,
      port,
      what: 'The server',
      portHint: '--port of `holdfast mcp-server`',
    },
  );
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shown}:${taken}${PATH}`,
    async stop() {
      await handler.close();
      await close(server);
    },
  };
}

function answering(
  { settings, desk }: HttpServerOptions,
  handler: McpHandler,
): (request: Request, bindings: Bindings) => Promise<Response> {
  const { hosts, origins } = settings.mcpServer;
  const names: ReadonlySet<string> = new Set([...LOCAL_NAMES, settings.host, ...hosts]);
  const proxies = trustedProxies(settings.trustedProxies);
  const passed = async (request: Request, bindings: Bindings): Promise<Response> => {
    if (new URL(request.url).pathname !== PATH) throw notFound();
    const name = (request.headers.get('host') ?? '').toLowerCase().replace(/:\d+$/, '');
    if (!names.has(name)) throw notAllowed('The server is not reached under this name.');
    const origin = request.headers.get('origin')?.toLowerCase();
    if (origin !== undefined && !origins.includes(origin)) {
      throw notAllowed('Pages of this origin may not call the server.');
    }
    const peer = bindings.incoming?.socket?.remoteAddress ?? 'unknown';
    const forwarded = request.headers.get('x-forwarded-for') ?? undefined;
    const address = remoteAddress(peer, forwarded, proxies);
    const authInfo = await loggedIn(desk, request, address);
    return handler.fetch(request, { authInfo });
  };
  return async (request, bindings) => {
    const response = await passed(request, bindings).catch((error: unknown) =>
      problemResponse(error instanceof Problem ? error : new Problem(500, { code: 'internal' })),
    );
    // What was refused unread is still on its way: nothing else may follow it.
    if (request.body !== null && response.status >= 400)
      response.headers.set('connection', 'close');
    for (const [header, value] of SECURITY_HEADERS) response.headers.set(header, value);
    return response;
  };
}

/** Errors: a Problem, the desk's own. */
async function loggedIn(
  { app }: Pick<DeskApp, 'app'>,
  request: Request,
  address: string,
): Promise<AuthInfo> {
  const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  const { status, body } = await deskCall(app, { token, address }).get('/v1/me');
  if (status === 200)
    return { token, clientId: String(body['id']), scopes: [], extra: { address } };
  const known = status === 429 || status === 403 ? status : 401;
  throw new Problem(known, {
    code: String(body['code']),
    detail: String(body['detail']),
    headers: known === 401 ? { 'www-authenticate': 'Bearer' } : {},
  });
}

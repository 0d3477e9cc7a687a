/**
 * The HTTP application: every request goes through the same gates, in this order: limits, login, access,
 * parsing, the route.
 * Invariants: nothing is read of a request's body before its sender is known; whatever happens, the answer is
 * one of the documented kinds, and what is refused to somebody who is known is in the audit trail.
 */
import { randomUUID } from 'node:crypto';
import { Hono, type Context } from 'hono';
import type { Readiness } from '../connection/readiness.js';
import { HoldfastError } from '../core/state/errors.js';
import { authenticate, notLoggedIn } from './identity/authenticate.js';
import { checkAccess } from './identity/rights.js';
import type { Authenticator, Login, Person } from './identity/person.js';
import type { EndpointRequest, Endpoint } from './http/endpoint.js';
import { openApiDocument } from './http/openapi.js';
import { strangersAt } from './identity/strangers.js';
import { parseBody, parseFields } from './http/parse.js';
import { notFound, Problem, problemOf, problemResponse } from './http/problem.js';
import { rateLimit, slots } from './http/rate.js';
import { addressGroup, remoteAddress, trustedProxies } from './http/remote-address.js';
import { streamResponse } from './http/stream.js';
import { SECURITY_HEADERS } from './http/security-headers.js';
import type { StaticPage } from './static-page.js';
import { noteDenied } from './trail.js';
import type { Desk } from './desk.js';

/** What the gates need of a desk. */
export type Gatekeeper = Pick<Desk, 'settings' | 'deciders' | 'clock' | 'say' | 'owed'> & {
  readonly store: Pick<Desk['store'], 'appendAudit'>;
};

export interface AppSettings {
  /** The whole of it, or as much as `endpoints` need. */
  readonly desk: Gatekeeper;
  readonly endpoints: readonly Endpoint[];
  readonly logins: readonly Authenticator[];
  readonly version: string;
  /** Ends open streams when the console ends. */
  readonly signal: AbortSignal;
  /** Static files; undefined: none of that name. */
  readonly page: StaticPage;
  /** Names of this console that a browser may use; absent: any. */
  readonly hosts?: ReadonlySet<string>;
  /** Whether store and server answer; absent: there are none. */
  readonly ready?: () => Promise<Readiness>;
}

interface Bindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}
type Incoming = Context<{ Bindings: Bindings }>;

/** Of all addresses together, a minute: a row each would let strangers fill the trail. */
const STRANGERS_AUDITED_PER_MINUTE = 60;
/** Requests of nobody in particular stand in this tenant's trail. */
const NOBODYS_TENANT = '*';

export function createApp(settings: AppSettings): Hono<{ Bindings: Bindings }> {
  const { endpoints, version, page, hosts, ready } = settings;
  const app = new Hono<{ Bindings: Bindings }>();
  const document = openApiDocument(endpoints, version);
  const serve = serving(settings);
  app.use('*', async (context, next) => {
    const { method } = context.req.raw;
    const known = method === 'GET' || method === 'POST';
    if (!known || (hosts !== undefined && !hosts.has(hostOf(context)))) {
      context.res = problemResponse(notFound());
    } else await next();
    for (const [name, value] of SECURITY_HEADERS) context.res.headers.set(name, value);
  });
  app.get('/health', (context) => context.json({ ok: true }));
  if (ready !== undefined) {
    app.get('/ready', async (context) => {
      const answer = await ready();
      return context.json(answer, answer.ok ? 200 : 503, { 'cache-control': 'no-store' });
    });
  }
  app.get('/openapi.json', (context) => context.json(document));
  for (const endpoint of endpoints) {
    app.on(endpoint.method, honoPath(endpoint.path), (context) => serve(context, endpoint));
  }
  app.get('*', (context) => {
    const { path } = context.req;
    const isApi = path === '/v1' || path.startsWith('/v1/');
    return (
      (isApi ? undefined : page(path, context.req.header('accept-encoding'))) ??
      problemResponse(notFound())
    );
  });
  app.notFound(() => problemResponse(notFound()));
  app.onError((error) => problemResponse(told(settings.desk, error)));
  return app;
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function hostOf(context: Incoming): string {
  return (context.req.header('host') ?? '').toLowerCase().replace(/:\d+$/, '');
}

type LoggedIn = Extract<Login, { readonly ok: true }>;
type Serve = (context: Incoming, endpoint: Endpoint) => Promise<Response>;

type LogIn = (context: Incoming, endpoint: Endpoint) => Promise<LoggedIn>;

function loggingIn({ desk, logins }: AppSettings): LogIn {
  const { limits } = desk.settings;
  const people = rateLimit(limits.requestsPerMinute, desk.clock);
  const strangers = strangersAt(rateLimit(limits.failedLoginsPerMinute, desk.clock));
  const audited = rateLimit(STRANGERS_AUDITED_PER_MINUTE, desk.clock);
  const proxies = trustedProxies(desk.settings.trustedProxies);
  return async (context, endpoint) => {
    const peer = context.env?.incoming?.socket?.remoteAddress ?? 'unknown';
    const address = remoteAddress(peer, context.req.header('x-forwarded-for'), proxies);
    const header = context.req.header('authorization') ?? '';
    const attempt = strangers.attempt(addressGroup(address), header);
    if (attempt.seconds > 0) throw tooMany(attempt.seconds);
    const login = await authenticate(context.req.raw, logins);
    if (login.ok) {
      attempt.succeeded();
      takeOne(people, limitName(login.person));
      return login;
    }
    attempt.failed();
    if (audited.take('') === 0) {
      await noteStranger(desk, { route: endpoint.name, why: login.why, address });
    }
    throw notLoggedIn();
  };
}

function serving(settings: AppSettings): Serve {
  const { desk, signal } = settings;
  const { limits } = desk.settings;
  const loggedIn = loggingIn(settings);
  const streams = slots(limits.streamsPerPerson, limits.streams);

  async function answer(
    context: Incoming,
    endpoint: Endpoint,
    { person, until }: LoggedIn,
  ): Promise<Response> {
    checkAccess(desk, person, endpoint.access);
    const { raw } = context.req;
    const ending = new AbortController();
    const goneSignal = onceMade(() => AbortSignal.any([raw.signal, signal, ending.signal]));
    const asked: EndpointRequest<object, object, unknown> = {
      desk: desk as Desk,
      person,
      params: parseFields(endpoint.params, { ...context.req.param() }),
      query: parseFields(endpoint.query, queryOf(context.req.url)),
      body: await parseBody(endpoint.body, raw, limits.bodyBytes),
      header: (name) => raw.headers.get(name) ?? undefined,
      get signal() {
        return goneSignal();
      },
    };
    const given = await endpoint.handle(asked as EndpointRequest<never, never, never>);
    if ('stream' in given) {
      const release = streams.take(limitName(person));
      if (release === undefined) throw tooMany(10);
      const loginMs = until === undefined ? {} : { loginMs: until - desk.clock() };
      const ends = { signal: goneSignal(), stop: () => ending.abort(), release };
      return streamResponse(given.stream, { ...loginMs, ...ends, say: desk.say });
    }
    const headers = { 'cache-control': 'no-store', ...given.headers };
    if (given.json === undefined) return context.json(given.body as object, given.status, headers);
    return context.body(given.json, given.status, {
      ...headers,
      'content-type': 'application/json',
    });
  }

  return async (context, endpoint) => {
    let person: Person | undefined;
    try {
      const login = await loggedIn(context, endpoint);
      ({ person } = login);
      return await answer(context, endpoint, login);
    } catch (error) {
      const problem = told(desk, error);
      if (person !== undefined && (problem.status === 403 || problem.status === 404)) {
        await noteDenied(desk, person, { route: endpoint.name, status: problem.status });
      }
      return problemResponse(problem);
    }
  };
}

/** Only streams want such a signal: each one leaves something behind on the signal of the console. */
function onceMade(make: () => AbortSignal): () => AbortSignal {
  let made: AbortSignal | undefined;
  return () => (made ??= make());
}

async function noteStranger(
  desk: Gatekeeper,
  facts: { readonly route: string; readonly why: string; readonly address: string },
): Promise<void> {
  const entry = {
    at: desk.clock(),
    kind: 'access_denied',
    facts: { ...facts, status: 401 },
  } as const;
  await desk.store.appendAudit(NOBODYS_TENANT, [entry]);
}

/** Either part may hold any character, so none may stand between them. */
function limitName({ tenant, id }: Person): string {
  return JSON.stringify([tenant, id]);
}

function takeOne(limit: ReturnType<typeof rateLimit>, name: string): void {
  const seconds = limit.take(name);
  if (seconds > 0) throw tooMany(seconds);
}

function tooMany(seconds: number): Problem {
  return new Problem(429, {
    code: 'too_many',
    detail: 'Too many requests at a time. Wait a little.',
    headers: { 'retry-after': String(seconds) },
  });
}

/** The last of a name counts; a query is data, so it gets no prototype. */
function queryOf(url: string): Readonly<Record<string, string>> {
  return Object.fromEntries(new URL(url).searchParams);
}

/** An unexpected failure is told in the console's log, without anything that somebody sent. */
function told(desk: Gatekeeper, error: unknown): Problem {
  return problemOf(error, () => {
    const reference = randomUUID();
    const code = error instanceof HoldfastError ? error.code : nameOf(error);
    desk.say(`A request failed (${code}); reference ${reference}.`);
    return reference;
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

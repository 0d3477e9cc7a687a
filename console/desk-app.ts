/** The application of the desk without anybody listening: its desk, its ways to log in, its routes. */
import { isLoopback, type ConsoleSettings } from '../authoring/index.js';
import type { DeskSigner, HoldfastClient } from '../client/index.js';
import { readinessOf } from '../connection/readiness.js';
import { HoldfastError } from '../core/state/errors.js';
import { createApp } from './app.js';
import { connectorsNow, type KnownConnectors } from './connectors-now.js';
import type { Desk, Forks, KnownTool, Startable } from './desk.js';
import type { DeskStore } from './desk-store.js';
import { jwtLogin, type RoleNames } from './identity/jwt.js';
import { localLogin } from './identity/local.js';
import type { Authenticator } from './identity/person.js';
import { serviceLogin } from './identity/service-tokens.js';
import { owedRows } from './owed.js';
import { records } from './records.js';
import { ENDPOINTS } from './routes/index.js';
import type { StaticPage } from './static-page.js';
import { views } from './trail.js';

export interface ConsoleOptions {
  readonly client: HoldfastClient;
  readonly store: DeskStore;
  readonly settings: ConsoleSettings;
  readonly version: string;
  /** Absent: decisions carry no proof. */
  readonly signer?: DeskSigner;
  /** What a local developer may decide on; used without `jwt` and `serviceTokens` only. */
  readonly localRoles: readonly string[];
  /** The token of a local developer; absent: a new one. */
  readonly localToken?: string;
  /** Roles that decide somewhere: the desk is theirs unless `access` says otherwise. Absent: whoever has a role. */
  readonly deciders?: readonly string[];
  /** Tools of the configuration: the forms of corrections are made from their schemas. */
  readonly tools?: readonly KnownTool[];
  /** What may be started over the desk; absent: nothing. */
  readonly startable?: Startable;
  /** Of the configuration; absent: it has none. */
  readonly connectors?: KnownConnectors;
  /** Makes forks of recorded runs; absent: there are none over this desk. */
  readonly forks?: Forks;
  /** Where Temporal's own page is: runs lead there. */
  readonly temporalUi?: string;
  /** Folder of the page's files; default: the one beside this file. */
  readonly pageFolder?: string;
  /** Secrets by their variables, for webhooks. */
  readonly secret?: (variable: string) => string | undefined;
  readonly say: (line: string) => void;
  readonly clock?: () => number;
}

export interface DeskAppPlace {
  /** Ends open streams. */
  readonly signal: AbortSignal;
  /** Absent: the API alone. */
  readonly page?: StaticPage;
  /** Requests come from this process, under no name of a host. */
  readonly inProcess?: true;
}

export interface DeskApp {
  readonly desk: Desk;
  readonly app: ReturnType<typeof createApp>;
  /** Local development: logs in as anybody. */
  readonly token?: string;
}

/** Errors: InvalidConfig. */
export async function createDeskApp(
  options: ConsoleOptions,
  { signal, page = () => undefined, inProcess }: DeskAppPlace,
): Promise<DeskApp> {
  const { settings, version, clock = Date.now } = options;
  const { logins, token } = await loginsOf(options);
  const desk = deskOf(options, clock);
  // A name that leads here by somebody else's DNS is not ours (DNS rebinding).
  const isGuarded = token !== undefined && inProcess === undefined;
  const app = createApp({
    desk,
    endpoints: ENDPOINTS,
    logins,
    version,
    signal,
    page,
    ready: readinessOf(
      () => options.store.identity(clock()),
      () => options.client.workerCount(),
    ),
    ...(isGuarded && { hosts: new Set([...LOCAL_NAMES, settings.host]) }),
  });
  return { desk, app, ...(token !== undefined && { token }) };
}

function deskOf(options: ConsoleOptions, clock: () => number): Desk {
  const { client, store, settings, signer, version, tools = [], temporalUi, say } = options;
  const { deciders = [], startable, forks, connectors } = options;
  return {
    client,
    store,
    settings,
    version,
    tools,
    deciders,
    ...(startable !== undefined && { startable }),
    ...(forks !== undefined && { forks }),
    ...(connectors !== undefined && { connectors: connectorsNow(connectors, clock) }),
    ...(signer !== undefined && { signer }),
    ...(temporalUi !== undefined && { temporalUi }),
    views: views(),
    records: records({ client, store, clock }),
    owed: owedRows(store, say),
    clock,
    say,
  };
}

/** Names of this machine, as a browser writes them. */
export const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'];

async function loginsOf(options: ConsoleOptions): Promise<{
  readonly logins: readonly Authenticator[];
  readonly token?: string;
}> {
  const { settings, localRoles, localToken, clock, say } = options;
  const { jwt, serviceTokens: file, host } = settings;
  const roles: RoleNames = settings.roles;
  const logins: Authenticator[] = [];
  if (jwt !== undefined) logins.push(jwtLogin(jwt, roles));
  if (file !== undefined) logins.push(await serviceLogin({ file, say, clock }));
  if (logins.length > 0) return { logins };
  if (!isLoopback(host)) {
    throw new HoldfastError(
      'InvalidConfig',
      `The console may not listen on ${host}: nobody could be told apart there.`,
      { hint: 'Set console.jwt or console.serviceTokens, or listen on 127.0.0.1.' },
    );
  }
  const local = localLogin(localRoles, localToken);
  return { logins: [local.authenticate], token: local.token };
}

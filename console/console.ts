/**
 * The console: the approval desk's HTTP server.
 * Invariants: without a configured way to log in it serves this machine alone; it ends in order, with its
 * streams closed and its requests answered.
 */
import { join } from 'node:path';
import { isLoopback, type ConsoleSettings } from '../authoring/index.js';
import type { DeskSigner, HoldfastClient } from '../client/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { createApp } from './app.js';
import type { Desk, KnownTool } from './desk.js';
import type { DeskStore } from './desk-store.js';
import { close, listen } from './http/listen.js';
import { jwtLogin, type RoleNames } from './identity/jwt.js';
import { localLogin } from './identity/local.js';
import type { Authenticator } from './identity/person.js';
import { readServiceTokens, serviceLogin } from './identity/service-tokens.js';
import { startNotifier, type Target } from './notify/notifier.js';
import { owedRows } from './owed.js';
import { records } from './records.js';
import { ENDPOINTS } from './routes/index.js';
import { readPage } from './static-page.js';
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
  /** Roles that decide somewhere: the desk is theirs unless `access` says otherwise. Absent: whoever has a role. */
  readonly deciders?: readonly string[];
  /** Tools of the configuration: the forms of corrections are made from their schemas. */
  readonly tools?: readonly KnownTool[];
  /** Where Temporal's own page is: runs lead there. */
  readonly temporalUi?: string;
  /** Folder of the page's files; default: the one beside this file. */
  readonly pageFolder?: string;
  /** Secrets by their variables, for webhooks. */
  readonly secret?: (variable: string) => string | undefined;
  readonly say: (line: string) => void;
  readonly clock?: () => number;
}

export interface RunningConsole {
  readonly url: string;
  /** Local development: logs in as anybody. */
  readonly token?: string;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** Errors: InvalidConfig, PortTaken. */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { store, settings, version, say, clock = Date.now } = options;
  const ending = new AbortController();
  const { logins, token } = await loginsOf(options);
  const page = await readPage(options.pageFolder ?? join(__dirname, 'page'));
  const desk = deskOf(options, clock);
  const app = createApp({
    desk,
    endpoints: ENDPOINTS,
    logins,
    version,
    signal: ending.signal,
    page,
    // A name that leads here by somebody else's DNS is not ours (DNS rebinding).
    ...(token !== undefined && { hosts: new Set([...LOCAL_NAMES, settings.host]) }),
  });
  const targets = targetsOf(options);
  const { server, port } = await listen(app.fetch, settings);
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const url = `http://${host}:${port}`;
  const publicUrl = settings.publicUrl ?? url;
  const notifier = startNotifier({ store, targets, publicUrl, clock, say });
  let stopping: Promise<void> | undefined;
  return {
    url,
    ...(token !== undefined && { token }),
    stop() {
      ending.abort();
      stopping ??= Promise.all([notifier.stop(), close(server)]).then(() => desk.owed.stop());
      return stopping;
    },
  };
}

function deskOf(options: ConsoleOptions, clock: () => number): Desk {
  const { client, store, settings, signer, version, tools = [], temporalUi, say } = options;
  const { deciders = [] } = options;
  return {
    client,
    store,
    settings,
    version,
    tools,
    deciders,
    ...(signer !== undefined && { signer }),
    ...(temporalUi !== undefined && { temporalUi }),
    views: views(),
    records: records({ client, store, clock }),
    owed: owedRows(store, say),
    clock,
    say,
  };
}

/** Errors: InvalidConfig for a webhook whose secret is not set. */
function targetsOf({ settings, secret }: ConsoleOptions): readonly Target[] {
  return settings.webhooks.map((webhook) => {
    const key = secret?.(webhook.secretVariable);
    if (key !== undefined) return { ...webhook, secret: key };
    throw new HoldfastError(
      'InvalidConfig',
      `The webhook ${webhook.name} has no secret: ${webhook.secretVariable} is not set.`,
      { hint: 'Set the variable to the secret that the other side checks signatures with.' },
    );
  });
}

export const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'];

async function loginsOf({ settings, localRoles, clock }: ConsoleOptions): Promise<{
  readonly logins: readonly Authenticator[];
  readonly token?: string;
}> {
  const { jwt, serviceTokens, host } = settings;
  const roles: RoleNames = settings.roles;
  const logins: Authenticator[] = [];
  if (jwt !== undefined) logins.push(jwtLogin(jwt, roles));
  if (serviceTokens !== undefined) {
    logins.push(serviceLogin(await readServiceTokens(serviceTokens), clock));
  }
  if (logins.length > 0) return { logins };
  if (!isLoopback(host)) {
    throw new HoldfastError(
      'InvalidConfig',
      `The console may not listen on ${host}: nobody could be told apart there.`,
      { hint: 'Set console.jwt or console.serviceTokens, or listen on 127.0.0.1.' },
    );
  }
  const local = localLogin(localRoles);
  return { logins: [local.authenticate], token: local.token };
}

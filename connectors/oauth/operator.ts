/**
 * What an operator does for a connector: logs in, logs out.
 * Invariants: who has logged in is in the audit trail before any worker gets the token; nothing that is secret is returned but the
 * pending login, which its caller keeps to itself; errors have words of this program alone.
 */
import { isAuthorizationCode, type AuthorizationCode } from '../../authoring/connector-auth.js';
import type { Connector } from '../../authoring/connectors.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AuditEntry } from '../../pure/audit.js';
import type { ConnectorTokenRow, ConnectorTokens } from '../../store/connector-tokens.js';
import { loadSdk } from '../sdk.js';
import { openGrant, sealGrant, serverDigest, type Grant } from './grant.js';
import { clientFor } from './client.js';
import {
  finishLogin,
  isOfIssuer,
  requestsTo,
  startLogin,
  type LoginAnswer,
  type LoginServer,
  type LoginStart,
  type PendingLogin,
} from './login.js';
import { isClientUnknown, reasonOf, Refusal } from './refusal.js';
import { readTokenKeys, type TokenKeys } from './token-keys.js';

export interface OperatorStore extends Pick<
  ConnectorTokens,
  'connectorToken' | 'keepConnectorToken' | 'resealConnectorToken' | 'dropConnectorToken'
> {
  appendAudit(tenant: string, entries: readonly AuditEntry[]): Promise<void>;
}

export interface OperatorPlace {
  readonly connector: Connector;
  readonly tenant: string;
  readonly store: OperatorStore;
  readonly clock: () => number;
}

/** What is known of a login; nothing of it is secret. */
export interface LoggedIn {
  readonly connector: string;
  readonly issuer: string;
  readonly scope?: string;
  /** End of the first token, ms since epoch. */
  readonly until?: number;
  /** Whether the next token can be got without a person. */
  readonly renews: boolean;
}

/** Errors: `InvalidRequest` for a connector that has no login. */
export function loginServerOf(connector: Connector): LoginServer {
  const { reached, name, connectTimeoutMs: timeoutMs } = connector;
  if (reached.kind !== 'stdio' && reached.auth !== undefined && isAuthorizationCode(reached.auth)) {
    return { url: reached.url, auth: reached.auth, timeoutMs };
  }
  throw new HoldfastError('InvalidRequest', `The connector ${name} has no login.`, {
    hint: `Only connectors with auth: { grant: 'authorization_code' } have one; see docs/guide/connectors.md in the package holdfast.`,
  });
}

/** Errors: `AuthError`, `InvalidConfig`, `InvalidRequest`. */
export async function beginLogin(place: OperatorPlace, redirectUrl: string): Promise<LoginStart> {
  const { connector, tenant, store } = place;
  const server = loginServerOf(connector);
  return told(connector, async () => {
    // Without keys nothing could be kept.
    const keys = await readTokenKeys();
    const found = await store.connectorToken({ tenant, connector: connector.name });
    const row = found?.server === serverDigest(server.url) ? found : undefined;
    const wanted = row?.wanted ?? {};
    const before = row && (await former(() => grantIn(keys, row)));
    // The authorization server may have forgotten the client as well.
    const clientEnded = row?.state === 'needs_login' || before?.client.forgotten === true;
    return startLogin(server, { redirectUrl, wanted, clientEnded, ...(before && { before }) });
  });
}

/** Errors: `AuthError`, `InvalidConfig`, `InvalidRequest`. */
export async function endLogin(
  place: OperatorPlace,
  pending: PendingLogin,
  { answer, by }: { readonly answer: LoginAnswer; readonly by: string },
): Promise<LoggedIn> {
  const { connector, tenant, store, clock } = place;
  const server = loginServerOf(connector);
  return told(connector, async () => {
    const grant = await finishLogin(server, pending, { answer, now: clock }).catch(
      async (error: unknown) => {
        if (isClientUnknown(error, answer, await loadSdk())) await forgetClient(place, pending);
        throw error;
      },
    );
    const of = { tenant, connector: connector.name, server: serverDigest(server.url) };
    const token = sealGrant(await readTokenKeys(), grant, of);
    const known = knownOf(connector.name, grant);
    const { issuer, scope = null } = known;
    const facts = { connector: connector.name, issuer, scope };
    const at = clock();
    await store.appendAudit(tenant, [{ at, kind: 'connector_login', by, facts }]);
    await store.keepConnectorToken({ ...of, token, by, at });
    return known;
  });
}

/** The client that has registered itself is known there no more: the next login registers another one. */
async function forgetClient(place: OperatorPlace, { client }: PendingLogin): Promise<void> {
  const { connector, tenant, store } = place;
  const row = await store.connectorToken({ tenant, connector: connector.name });
  const keys = await readTokenKeys();
  const grant = row && (await former(() => grantIn(keys, row)));
  // Of the same version: the token of an earlier login counts as long as it does.
  if (row === undefined || grant?.client.origin !== 'registered') return;
  if (grant.client.id !== client.id) return;
  const forgotten: Grant = { ...grant, client: { ...grant.client, forgotten: true } };
  const { version } = row;
  const token = sealGrant(keys, forgotten, row);
  await store.resealConnectorToken({ tenant, connector: connector.name, version, token });
}

export interface LoggedOut {
  /** Whether there was a login. */
  readonly was: boolean;
  /** Whether the authorization server has taken the tokens back; undefined: it takes none back. */
  readonly revoked?: boolean;
}

/** Errors: `InvalidRequest`. The token is gone from the store in any case. */
export async function logout(place: OperatorPlace, by: string): Promise<LoggedOut> {
  const { connector, tenant, store, clock } = place;
  const server = loginServerOf(connector);
  const facts = { connector: connector.name };
  await store.appendAudit(tenant, [{ at: clock(), kind: 'connector_logout', by, facts }]);
  const row = await store.dropConnectorToken({ tenant, connector: connector.name });
  if (row?.token === undefined) return { was: false };
  const grant = await former(async () => grantIn(await readTokenKeys(), row));
  const revoked = grant && (await revoke(server, grant));
  return { was: true, ...(revoked !== undefined && { revoked }) };
}

function grantIn(keys: TokenKeys, row: ConnectorTokenRow): Grant | undefined {
  const { token } = row;
  return token && openGrant(keys, { ...row, token });
}

function knownOf(connector: string, grant: Grant): LoggedIn {
  const { metadata, scope, until, refreshToken } = grant;
  return {
    connector,
    issuer: metadata.issuer,
    ...(scope !== undefined && { scope }),
    ...(until !== undefined && { until }),
    renews: refreshToken !== undefined,
  };
}

/** What nobody can open any more is as if it were not there. */
async function former<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal || error instanceof HoldfastError) return undefined;
    throw error;
  }
}

/** RFC 7009. Undefined: the server offers none. */
async function revoke(server: LoginServer, grant: Grant): Promise<boolean | undefined> {
  const { metadata, authorizationServerUrl } = grant;
  const { revocation_endpoint: endpoint } = metadata as { revocation_endpoint?: unknown };
  if (typeof endpoint !== 'string') return undefined;
  // The secret of the configuration is for another issuer.
  if (!isOfIssuer(server.auth, metadata)) return false;
  try {
    const fetchFn = requestsTo(server, authorizationServerUrl);
    const given = [
      ['refresh_token', grant.refreshToken],
      ['access_token', grant.accessToken],
    ] as const;
    for (const [hint, token] of given) {
      if (token === undefined) continue;
      const init = await revocation(grant, { auth: server.auth, token, hint });
      const { ok } = await fetchFn(endpoint, init);
      if (!ok) return false;
    }
    return true;
  } catch {
    return false;
  }
}

async function revocation(
  { client, metadata }: Grant,
  { auth, token, hint }: { readonly auth: AuthorizationCode; token: string; hint: string },
): Promise<RequestInit> {
  const sdk = await loadSdk();
  const secrets = { keep: () => undefined };
  const { information, authenticate } = await clientFor(sdk, { client, auth, secrets });
  const { client_id: id, client_secret: secret } = information;
  const body = new URLSearchParams({ token, token_type_hint: hint });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const coded = `${encodeURIComponent(id)}:${encodeURIComponent(secret ?? '')}`;
  const isPosted = secret === undefined || client.method === 'client_secret_post';
  if (authenticate !== undefined) {
    await authenticate(headers, body, metadata.token_endpoint, metadata);
  } else if (isPosted) {
    body.set('client_id', id);
    if (secret !== undefined) body.set('client_secret', secret);
  } else headers.set('authorization', `Basic ${Buffer.from(coded).toString('base64')}`);
  return { method: 'POST', body, headers };
}

async function told<T>(connector: Connector, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    const why = reasonOf(error, await loadSdk());
    throw new HoldfastError(
      'AuthError',
      `The login of the connector ${connector.name} did not succeed: ${why}.`,
      { hint: `Begin it again with \`holdfast mcp login ${connector.name}\`.` },
    );
  }
}

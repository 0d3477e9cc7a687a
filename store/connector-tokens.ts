/**
 * Tokens that operators got for connectors by logging in, encrypted, and logins that have begun.
 * Invariants: one row for each tenant and connector; every change of a token raises the row's version, a row that is made anew
 * begins at the time, so that no version comes again, and a change that names a version is made only while the row has it; a
 * login is replaced by another login or dropped, by nothing else; whoever gets the next token holds the row's lease, so that one does; a login that has
 * begun is taken once.
 */
import { checkIdentifiers, LIST_ROWS_MAX, listLimit } from './bounds.js';
import { change, immediate, rowsOf, type Db } from './database.js';
import type { ConnectorLoginTable, ConnectorTokenTable } from './connector-tables.js';

/** Logins of a tenant that may be under way at once; the oldest go. */
const LOGINS_MAX = 100;
const TEXT_CHARS_MAX = 512 * 1024;

/** 'needs_scope': the token counts, and the server wants more scopes for some calls. 'needs_login': there is none that counts. */
export type ConnectorTokenState = 'ready' | 'needs_scope' | 'needs_login';

/** What the server has said of the login that it wants. */
export interface WantedLogin {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
}

export interface ConnectorTokenName {
  readonly tenant: string;
  readonly connector: string;
}

export interface SealedText {
  readonly keyId: string;
  readonly sealed: string;
}

export interface ConnectorTokenRow extends ConnectorTokenName {
  /** sha256 of the address that the token is for. */
  readonly server: string;
  readonly version: number;
  readonly state: ConnectorTokenState;
  readonly wanted: WantedLogin;
  /** Absent: nobody has logged in. */
  readonly token?: SealedText;
  /** Until when somebody is getting the next token; ms since epoch. */
  readonly leasedUntil?: number;
  /** Who logged in last, and when. */
  readonly by?: string;
  readonly loggedInAt?: number;
  readonly updatedAt: number;
}

export interface KeptToken extends ConnectorTokenName {
  readonly server: string;
  readonly token: SealedText;
  readonly by: string;
  readonly at: number;
}

export interface TokenVersion extends ConnectorTokenName {
  readonly version: number;
}

export interface TokenLease extends TokenVersion {
  readonly lease: string;
}

export interface WantedChange extends ConnectorTokenName {
  readonly server: string;
  /** Absent: only where there is no row for this server, and nobody has logged in for another. */
  readonly version?: number;
  readonly state: Exclude<ConnectorTokenState, 'ready'>;
  readonly wanted: WantedLogin;
  readonly at: number;
}

export interface BegunLogin extends ConnectorTokenName {
  /** sha256 of the state that comes back. */
  readonly id: string;
  readonly by: string;
  readonly pending: SealedText;
  readonly expiresAt: number;
}

export interface ConnectorTokens {
  connectorToken(name: ConnectorTokenName): Promise<ConnectorTokenRow | undefined>;
  /** Connectors of all tenants for which somebody is to log in, the oldest first. */
  listWantedLogins(limit: number): Promise<readonly ConnectorTokenRow[]>;
  /** After a login, whatever was there. */
  keepConnectorToken(kept: KeptToken): Promise<void>;
  /** The token of a refresh; false: the row is another one, or somebody else holds it. */
  renewConnectorToken(
    held: TokenLease & { readonly token: SealedText; readonly at: number },
  ): Promise<boolean>;
  /** The same token, encrypted with another key. */
  resealConnectorToken(held: TokenVersion & { readonly token: SealedText }): Promise<void>;
  /** Whether the caller, and nobody else until then, gets the next token. */
  leaseConnectorToken(
    held: TokenLease & { readonly now: number; readonly until: number },
  ): Promise<boolean>;
  releaseConnectorToken(held: TokenLease): Promise<void>;
  /** Somebody is to log in. A row of another version stays as it is. */
  wantConnectorLogin(wanted: WantedChange): Promise<void>;
  /** Gives what was there. */
  dropConnectorToken(name: ConnectorTokenName): Promise<ConnectorTokenRow | undefined>;
  keepConnectorLogin(login: BegunLogin, now: number): Promise<void>;
  /** The login of this person; it is gone afterwards. */
  takeConnectorLogin(
    login: Pick<BegunLogin, 'tenant' | 'id' | 'by'>,
    now: number,
  ): Promise<BegunLogin | undefined>;
}

const READ = `select * from connector_tokens where tenant = @tenant and connector = @connector`;
const WANTED = `select * from connector_tokens where state <> 'ready'
  order by updated_at, tenant, connector limit @limit`;
const KEEP = `
  insert into connector_tokens (tenant, connector, server, version, state, wanted_json, key_id, sealed,
    lease, lease_until, logged_in_by, logged_in_at, updated_at)
  values (@tenant, @connector, @server, @at, 'ready', '{}', @keyId, @sealed, null, null, @by, @at, @at)
  on conflict (tenant, connector) do update set server = excluded.server,
    version = connector_tokens.version + 1, state = 'ready', wanted_json = '{}',
    key_id = excluded.key_id, sealed = excluded.sealed, lease = null, lease_until = null,
    logged_in_by = excluded.logged_in_by, logged_in_at = excluded.logged_in_at,
    updated_at = excluded.updated_at`;
const OF_VERSION = `tenant = @tenant and connector = @connector and version = @version`;
const RENEW = `update connector_tokens set version = version + 1, key_id = @keyId, sealed = @sealed,
    lease = null, lease_until = null, updated_at = @at
  where ${OF_VERSION} and lease = @lease and state <> 'needs_login'`;
const RESEAL = `update connector_tokens set key_id = @keyId, sealed = @sealed
  where ${OF_VERSION} and sealed is not null`;
const LEASE = `update connector_tokens set lease = @lease, lease_until = @until
  where ${OF_VERSION} and state <> 'needs_login' and (lease is null or lease_until <= @now)`;
const RELEASE = `update connector_tokens set lease = null, lease_until = null
  where ${OF_VERSION} and lease = @lease`;
const WANT = `update connector_tokens set state = @state, wanted_json = @wanted, server = @server,
    lease = null, lease_until = null, updated_at = @at
  where ${OF_VERSION}`;
const WANT_FIRST = `
  insert into connector_tokens (tenant, connector, server, version, state, wanted_json, updated_at)
  values (@tenant, @connector, @server, @at, @state, @wanted, @at)
  on conflict (tenant, connector) do update set server = excluded.server, state = excluded.state,
    version = connector_tokens.version + 1, wanted_json = excluded.wanted_json, key_id = null,
    sealed = null, lease = null, lease_until = null, updated_at = excluded.updated_at
  where connector_tokens.server <> excluded.server and connector_tokens.sealed is null`;
const DROP = `delete from connector_tokens where tenant = @tenant and connector = @connector
  returning *`;

const EXPIRE = `delete from connector_logins where tenant = @tenant and expires_at <= @now`;
const CROWD = `delete from connector_logins where tenant = @tenant and id in (
  select id from connector_logins where tenant = @tenant
  order by expires_at desc, id limit ${LIST_ROWS_MAX} offset ${LOGINS_MAX - 1})`;
const KEEP_LOGIN = `
  insert into connector_logins (tenant, id, connector, begun_by, key_id, sealed, expires_at)
  values (@tenant, @id, @connector, @by, @keyId, @sealed, @expiresAt)`;
const TAKE_LOGIN = `delete from connector_logins
  where tenant = @tenant and id = @id and begun_by = @by and expires_at > @now
  returning *`;

export function connectorTokens(db: Db): ConnectorTokens {
  return {
    async connectorToken(name) {
      const [row] = await rowsOf<ConnectorTokenTable>(db, READ, keyOf(name));
      return row && rowOf(row);
    },
    async listWantedLogins(limit) {
      const rows = await rowsOf<ConnectorTokenTable>(db, WANTED, { limit: listLimit(limit) });
      return rows.map(rowOf);
    },
    async keepConnectorToken({ server, token, by, at, ...name }) {
      checkIdentifiers({ server, by });
      await change(db, KEEP, { ...keyOf(name), ...sealedOf(token), server, by, at });
    },
    async renewConnectorToken({ token, at, lease, ...version }) {
      const values = { ...versionOf(version), ...sealedOf(token), lease, at };
      return (await change(db, RENEW, values)) > 0;
    },
    async resealConnectorToken({ token, ...version }) {
      await change(db, RESEAL, { ...versionOf(version), ...sealedOf(token) });
    },
    async leaseConnectorToken({ lease, now, until, ...version }) {
      return (await change(db, LEASE, { ...versionOf(version), lease, now, until })) > 0;
    },
    async releaseConnectorToken({ lease, ...version }) {
      await change(db, RELEASE, { ...versionOf(version), lease });
    },
    async wantConnectorLogin({ server, version, state, wanted, at, ...name }) {
      checkIdentifiers({ server });
      const values = { ...keyOf(name), server, state, wanted: JSON.stringify(wanted), at };
      if (version === undefined) await change(db, WANT_FIRST, values);
      else await change(db, WANT, { ...values, version });
    },
    async dropConnectorToken(name) {
      const [row] = await rowsOf<ConnectorTokenTable>(db, DROP, keyOf(name));
      return row && rowOf(row);
    },
    ...logins(db),
  };
}

function logins(db: Db): Pick<ConnectorTokens, 'keepConnectorLogin' | 'takeConnectorLogin'> {
  return {
    async keepConnectorLogin({ id, by, pending, expiresAt, ...name }, now) {
      checkIdentifiers({ id, by });
      const { tenant } = name;
      await immediate(db, async (tx) => {
        await change(tx, EXPIRE, { tenant, now });
        await change(tx, CROWD, { tenant });
        const values = { ...keyOf(name), ...sealedOf(pending), id, by, expiresAt };
        await change(tx, KEEP_LOGIN, values);
      });
    },
    async takeConnectorLogin({ tenant, id, by }, now) {
      checkIdentifiers({ tenant, id, by });
      // In one statement: of two who take it at once one gets it.
      const values = { tenant, id, by, now };
      const [row] = await rowsOf<ConnectorLoginTable>(db, TAKE_LOGIN, values);
      if (row === undefined) return undefined;
      const { connector, key_id: keyId, sealed, expires_at: expiresAt } = row;
      return { tenant, id, by, connector, pending: { keyId, sealed }, expiresAt };
    },
  };
}

function keyOf({ tenant, connector }: ConnectorTokenName) {
  checkIdentifiers({ tenant, connector });
  return { tenant, connector };
}

function versionOf({ version, ...name }: TokenVersion) {
  return { ...keyOf(name), version };
}

function sealedOf({ keyId, sealed }: SealedText) {
  checkIdentifiers({ keyId });
  if (sealed.length > TEXT_CHARS_MAX) throw new Error('A token of a connector is too long.');
  return { keyId, sealed };
}

function rowOf(row: ConnectorTokenTable): ConnectorTokenRow {
  const { tenant, connector, server, version, state, key_id: keyId, sealed } = row;
  const { lease_until: leasedUntil, logged_in_by: by, logged_in_at: loggedInAt } = row;
  return {
    tenant,
    connector,
    server,
    version,
    state: state as ConnectorTokenState,
    wanted: JSON.parse(row.wanted_json) as WantedLogin,
    ...(keyId !== null && sealed !== null && { token: { keyId, sealed } }),
    ...(leasedUntil !== null && { leasedUntil }),
    ...(by !== null && { by }),
    ...(loggedInAt !== null && { loggedInAt }),
    updatedAt: row.updated_at,
  };
}

/**
 * The token of a connector whose operator has logged in: read from the store, and renewed before it ends.
 * Invariants: of all workers one gets the next token, the one that holds the row's lease; a token that was replaced or taken away is
 * used no more from the next request on; what a server refuses becomes a row that says who has to do something.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Connector } from '../../authoring/connectors.js';
import type { AuthorizationCode } from '../../authoring/connector-auth.js';
import { HoldfastError } from '../../core/state/errors.js';
import type {
  ConnectorTokenRow,
  ConnectorTokens,
  ConnectorTokenState,
  TokenLease,
  WantedLogin,
} from '../../store/connector-tokens.js';
import type { Ledger } from '../../store/ledger.js';
import type { Fetch } from '../bounded-fetch.js';
import { NeedsLogin, Unsent } from '../fault.js';
import type { Sdk, SdkAuth, SdkChallenge, SdkDpopSession } from '../sdk.js';
import type { Secrets } from '../secrets.js';
import type { Authorization } from './authorization.js';
import { boundFetch, sessionOf } from './bound-tokens.js';
import { clientFor } from './client.js';
import {
  keepSecrets,
  openGrant,
  sealGrant,
  serverDigest,
  tokensIn,
  wantedOf,
  type Grant,
} from './grant.js';
import { isOfIssuer, requestsTo } from './login.js';
import { isClientUnknown, reasonOf, Refusal } from './refusal.js';
import type { TokenKeys } from './token-keys.js';

/** A token is renewed this long before it ends; ms. */
const EARLY_MS = 30_000;
/** Beyond the limit of the request, so that a lease ends only when its holder has. */
const LEASE_MARGIN_MS = 15_000;
/** Between two looks at what another worker is doing; ms. */
const LOOK_MS = 100;
const LOOKS_MAX = 600;

export type TokenRows = Pick<
  ConnectorTokens,
  | 'connectorToken'
  | 'renewConnectorToken'
  | 'resealConnectorToken'
  | 'leaseConnectorToken'
  | 'releaseConnectorToken'
  | 'wantConnectorLogin'
> &
  Pick<Ledger, 'claimClock'>;

export interface StoredParts {
  readonly connector: Connector;
  readonly url: string;
  readonly auth: AuthorizationCode;
  readonly tenant: string;
  readonly rows: TokenRows;
  /** Errors: `InvalidConfig`. */
  readonly keys: () => Promise<TokenKeys>;
  readonly secrets: Secrets;
  readonly clock: () => number;
}

interface Known {
  readonly version: number;
  readonly grant: Grant;
  /** Of bound tokens. */
  readonly session?: SdkDpopSession;
}

type TokenRow = ConnectorTokenRow & { readonly token: NonNullable<ConnectorTokenRow['token']> };

/** One for all connections of a connector and tenant in this process. */
export class StoredAuthorization implements Authorization {
  readonly #parts: StoredParts;
  readonly #server: string;
  #known?: Known | undefined;
  #renewing?: Promise<void> | undefined;
  /** What the server said when it last refused a token. */
  #challenge: WantedLogin = {};

  constructor(parts: StoredParts) {
    this.#parts = parts;
    this.#server = serverDigest(parts.url);
  }

  provider(sdk: Sdk): SdkAuth {
    let sent: number | undefined;
    return {
      token: async () => {
        const known = await this.#guarded(sdk, () => this.#current(sdk));
        sent = known?.version;
        return known?.grant.accessToken;
      },
      onUnauthorized: ({ response }: SdkChallenge) =>
        this.#guarded(sdk, () => this.#unauthorized(sdk, { response, sent })),
    };
  }

  bound(sdk: Sdk, send: Fetch): Fetch {
    return boundFetch(sdk, { send, session: async () => this.#known?.session });
  }

  /** A request with the newest token was refused. */
  async refused(error: unknown, sdk: Sdk): Promise<Error | undefined> {
    const isScope = sdk.InsufficientScopeError.isInstance(error);
    const isToken = sdk.SdkHttpError.isInstance(error) && error.status === 401;
    if (!isScope && !isToken) return undefined;
    return this.#guarded(sdk, async () => {
      const row = await this.#row();
      const known = this.#known;
      if (row !== undefined && row.version !== known?.version) {
        return new Unsent('The token was replaced while the request was under way.');
      }
      if (!isScope) {
        const wanted = { ...row?.wanted, ...this.#challenge };
        return this.#wantLogin(row, { state: 'needs_login', wanted });
      }
      const challenge = wantedOf(
        {
          ...(error.requiredScope !== undefined && { scope: error.requiredScope }),
          ...(error.resourceMetadataUrl !== undefined && {
            resourceMetadataUrl: error.resourceMetadataUrl,
          }),
        },
        this.#parts,
      );
      const scope = sdk.computeScopeUnion(known?.grant.scope, row?.wanted.scope, challenge.scope);
      const wanted = { ...row?.wanted, ...challenge, ...(scope !== undefined && { scope }) };
      return this.#wantLogin(row, { state: 'needs_scope', wanted });
    });
  }

  /** Whatever goes wrong here goes wrong before the server's tools have seen anything. */
  async #guarded<T>(sdk: Sdk, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NeedsLogin || error instanceof Unsent) throw error;
      const { name } = this.#parts.connector;
      const why = error instanceof HoldfastError ? error.message : `${reasonOf(error, sdk)}.`;
      throw new Unsent(`The connector ${name} is not authorized: ${why}`);
    }
  }

  async #current(sdk: Sdk): Promise<Known | undefined> {
    const row = await this.#usable();
    if (row === undefined) return undefined;
    const known = await this.#opened(sdk, row);
    const { clock } = this.#parts;
    const { until = Infinity, refreshToken } = known.grant;
    if (clock() < until - EARLY_MS || refreshToken === undefined) return known;
    // Another worker is at it, and the token still counts.
    const isLeased = (row.leasedUntil ?? 0) > clock();
    if (isLeased && clock() < until) return known;
    await this.#renew(sdk, row.version);
    const renewed = await this.#usable();
    return renewed && this.#opened(sdk, renewed);
  }

  /** Undefined: nobody has logged in, and the server has not said yet what it wants. Errors: `NeedsLogin`. */
  async #usable(): Promise<TokenRow | undefined> {
    const row = await this.#row();
    if (row === undefined) return undefined;
    const { token } = row;
    if (token !== undefined && row.state !== 'needs_login') return { ...row, token };
    throw needsLogin(this.#parts.connector.name, row);
  }

  /** Of this address alone. */
  async #row(): Promise<ConnectorTokenRow | undefined> {
    const { rows, tenant, connector } = this.#parts;
    const row = await rows.connectorToken({ tenant, connector: connector.name });
    return row?.server === this.#server ? row : undefined;
  }

  async #opened(sdk: Sdk, row: TokenRow): Promise<Known> {
    if (this.#known?.version === row.version) return this.#known;
    const { keys: readKeys, secrets, rows, auth, tenant, connector } = this.#parts;
    const keys = await readKeys();
    const grant = openGrant(keys, row);
    keepSecrets(grant, secrets);
    if (auth.clientId !== undefined && grant.client.id !== auth.clientId) {
      throw new Refusal('its token is of another client than the configuration names');
    }
    if (!isOfIssuer(auth, grant.metadata)) {
      throw new Refusal('its token is of another issuer than the configuration names');
    }
    if (auth.dpop === true && grant.binding === undefined) {
      throw new Refusal('its token is bound to no key, so that somebody has to log in again');
    }
    if (row.token.keyId !== keys.current) {
      const { version } = row;
      const token = sealGrant(keys, grant, row);
      await rows.resealConnectorToken({ tenant, connector: connector.name, version, token });
    }
    const { binding } = grant;
    const isSame = binding?.thumbprint === this.#known?.grant.binding?.thumbprint;
    const session = isSame ? this.#known?.session : binding && (await sessionOf(sdk, binding));
    this.#known = { version: row.version, grant, ...(session !== undefined && { session }) };
    return this.#known;
  }

  async #unauthorized(
    sdk: Sdk,
    { response, sent }: { readonly response: Response; readonly sent: number | undefined },
  ): Promise<void> {
    const wanted = wantedOf(sdk.extractWWWAuthenticateParams(response), this.#parts);
    this.#challenge = wanted;
    const row = await this.#usable();
    // Somebody has logged in, or got the next token, since the request was sent.
    if (row !== undefined && row.version !== sent) return;
    const known = row && (await this.#opened(sdk, row));
    if (row === undefined || known?.grant.refreshToken === undefined) {
      throw await this.#wantLogin(row, { state: 'needs_login', wanted });
    }
    await this.#renew(sdk, row.version);
  }

  async #renew(sdk: Sdk, version: number): Promise<void> {
    this.#renewing ??= this.#renewOnce(sdk, version).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  /** Ends when the row has another version, whoever has made it. */
  async #renewOnce(sdk: Sdk, version: number): Promise<void> {
    const { rows, tenant, connector, clock } = this.#parts;
    const { name, connectTimeoutMs } = connector;
    const held = { tenant, connector: name, version, lease: randomUUID() };
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const row = await this.#row();
      if (row?.version !== version || row.state === 'needs_login') return;
      const now = await rows.claimClock(clock());
      const until = now + connectTimeoutMs + LEASE_MARGIN_MS;
      if (await rows.leaseConnectorToken({ ...held, now, until })) {
        await this.#renewHeld(sdk, row, held);
        return;
      }
      await delay(LOOK_MS);
    }
    throw new Refusal('another worker has been getting its next token for too long');
  }

  async #renewHeld(sdk: Sdk, row: ConnectorTokenRow, held: TokenLease): Promise<void> {
    const { rows, keys, secrets, clock } = this.#parts;
    try {
      if (row.token === undefined) return;
      const known = await this.#opened(sdk, { ...row, token: row.token });
      const answer = await this.#refreshed(sdk, known);
      const { until: _, ...lasting } = known.grant;
      const { binding } = lasting;
      const renewed: Grant = { ...lasting, ...tokensIn(answer, { now: clock(), binding }) };
      keepSecrets(renewed, secrets);
      const token = sealGrant(await keys(), renewed, row);
      await persistent(() => rows.renewConnectorToken({ ...held, token, at: clock() }));
    } catch (error) {
      if (isEnded(error, this.#known?.grant, sdk)) {
        const wanted = { ...row.wanted, ...this.#challenge };
        throw await this.#wantLogin(row, { state: 'needs_login', wanted });
      }
      await rows.releaseConnectorToken(held);
      throw error;
    }
  }

  async #refreshed(sdk: Sdk, { grant, session }: Known) {
    const { auth, url, connector, secrets } = this.#parts;
    const { connectTimeoutMs: timeoutMs } = connector;
    const { authorizationServerUrl, metadata, client, resource, refreshToken = '' } = grant;
    const { information, authenticate } = await clientFor(sdk, { client, auth, secrets });
    return sdk.refreshAuthorization(authorizationServerUrl, {
      metadata,
      clientInformation: information,
      ...(authenticate !== undefined && { addClientAuthentication: authenticate }),
      ...(session !== undefined && { dpop: session }),
      refreshToken,
      resource,
      fetchFn: requestsTo({ url, auth, timeoutMs }, authorizationServerUrl),
    });
  }

  async #wantLogin(
    row: ConnectorTokenRow | undefined,
    { state, wanted }: { state: Exclude<ConnectorTokenState, 'ready'>; wanted: WantedLogin },
  ): Promise<NeedsLogin> {
    const { rows, tenant, connector, clock } = this.#parts;
    await rows.wantConnectorLogin({
      tenant,
      connector: connector.name,
      server: this.#server,
      state,
      wanted,
      at: clock(),
      ...(row !== undefined && { version: row.version }),
    });
    return needsLogin(connector.name, { state, wanted, ...(row && { token: row.token }) });
  }
}

/** The refresh token before may count no more: a store that is away for a moment does not lose the next one. */
async function persistent(keep: () => Promise<unknown>): Promise<void> {
  for (let pause = LOOK_MS; ; pause *= 2) {
    try {
      await keep();
      return;
    } catch (error) {
      if (pause > LEASE_MARGIN_MS / 2) throw error;
      await delay(pause);
    }
  }
}

/**
 * The refresh token, or the client that it was given to, counts no more. A client of the configuration proves itself by what this
 * worker has read: its refusal may be this worker's alone, and no login mends it.
 */
function isEnded(error: unknown, grant: Grant | undefined, sdk: Sdk): boolean {
  if (!(error instanceof sdk.OAuthError)) return false;
  return (
    error.code === 'invalid_grant' ||
    (grant?.client.origin !== 'configured' && isClientUnknown(error, {}, sdk))
  );
}

/** In words for people and models. */
export function loginReason({
  state,
  wanted,
  token,
}: Pick<ConnectorTokenRow, 'state' | 'wanted' | 'token'>): string | undefined {
  if (state === 'ready') return undefined;
  if (state === 'needs_scope') {
    return wanted.scope === undefined
      ? 'the server wants more scopes than were granted'
      : `the server wants the scopes ${wanted.scope}`;
  }
  return token === undefined ? 'nobody has logged in' : 'its last login counts no more';
}

function needsLogin(
  connector: string,
  row: Pick<ConnectorTokenRow, 'state' | 'wanted' | 'token'>,
): NeedsLogin {
  return new NeedsLogin(connector, loginReason(row) ?? 'nobody has logged in');
}

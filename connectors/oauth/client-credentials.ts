/**
 * The token of a connector that a program gets for itself: asked for when the server wants one, and anew before it ends or when it is
 * refused.
 * Invariants: one request for a token at a time, whose token all connections use; what is secret goes to the declared issuers alone, over
 * https or within this machine; no text of a server is in an error.
 */
import type { Connector } from '../../authoring/connectors.js';
import type { MachineAuth } from '../../authoring/connector-auth.js';
import type { Fetch } from '../bounded-fetch.js';
import { Unsent } from '../fault.js';
import type { Sdk, SdkAuth, SdkChallenge, SdkDpopSession } from '../sdk.js';
import type { Secrets } from '../secrets.js';
import type { Authorization } from './authorization.js';
import { boundFetch, requireBound, requireProofs } from './bound-tokens.js';
import { guardedFetch, plain } from './guarded-fetch.js';
import { machineGrant } from './machine-grant.js';
import { reasonOf, Refusal } from './refusal.js';

const TOKEN_CHARS_MAX = 16 * 1024;
/** A token is asked for anew this long before it ends; ms. */
const EARLY_MS = 30_000;
/** Of a token whose end the server does not tell. */
const LIFE_MS = 5 * 60_000;

interface Authorized {
  readonly token: string;
  /** ms since epoch. */
  readonly until: number;
}

/** What the server has said of how it wants to be authorized. */
interface Wanted {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

interface CredentialsParts {
  readonly connector: Connector;
  readonly auth: MachineAuth;
  readonly secrets: Secrets;
  readonly clock: () => number;
}

/** One for all connections of a connector. */
export class CredentialsAuthorization implements Authorization {
  readonly #parts: CredentialsParts;
  #known?: Authorized;
  #wanted?: Wanted;
  #asking?: Promise<void> | undefined;
  /** Of bound tokens; its key lives as long as this process. */
  #session?: Promise<SdkDpopSession>;

  constructor(parts: CredentialsParts) {
    this.#parts = parts;
  }

  /** As the package takes it. */
  provider(sdk: Sdk): SdkAuth {
    return {
      token: async () => {
        const { clock } = this.#parts;
        const isEnding = this.#known !== undefined && clock() >= this.#known.until - EARLY_MS;
        if (isEnding && this.#wanted !== undefined) await this.#ask(sdk, this.#wanted);
        return this.#known?.token;
      },
      onUnauthorized: async ({ response }: SdkChallenge) => {
        await this.#ask(sdk, sdk.extractWWWAuthenticateParams(response));
      },
    };
  }

  bound(sdk: Sdk, send: Fetch): Fetch {
    return this.#parts.auth.dpop === true
      ? boundFetch(sdk, { send, session: () => this.#sessionOf(sdk) })
      : send;
  }

  async #sessionOf(sdk: Sdk): Promise<SdkDpopSession> {
    this.#session ??= sdk.DpopSession.create();
    return this.#session;
  }

  async #ask(sdk: Sdk, wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    this.#asking ??= this.#authorize(sdk, wanted).finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  async #authorize(sdk: Sdk, wanted: Wanted): Promise<void> {
    const { connector, secrets, clock } = this.#parts;
    this.#known = undefined;
    try {
      const answer = await this.#token(sdk, wanted);
      const { access_token: token, expires_in: seconds } = answer;
      if (this.#parts.auth.dpop === true) requireBound(answer);
      if (token.length > TOKEN_CHARS_MAX) throw new Refusal('its token is too long');
      secrets.keep(token);
      const life = seconds === undefined ? LIFE_MS : Math.max(0, seconds) * 1_000;
      this.#known = { token, until: clock() + life };
    } catch (error) {
      throw new Unsent(
        `The connector ${connector.name} is not authorized: ${reasonOf(error, sdk)}.`,
      );
    }
  }

  async #token(sdk: Sdk, { resourceMetadataUrl, scope: asked }: Wanted) {
    const { auth, secrets, connector } = this.#parts;
    const { issuer, scope, dpop = false } = auth;
    const { connectTimeoutMs: timeoutMs } = connector;
    const url = connector.reached.kind === 'stdio' ? '' : connector.reached.url;
    const fetchFn = guardedFetch({ own: [url, issuer] }, timeoutMs);
    const found = await sdk.discoverOAuthServerInfo(url, {
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
      fetchFn,
    });
    const { authorizationServerMetadata: metadata, resourceMetadata } = found;
    if (metadata === undefined || plain(metadata.issuer) !== plain(issuer)) {
      throw new Refusal('the server names another issuer than the configuration');
    }
    if (dpop) requireProofs(metadata);
    const grant = {
      auth,
      secrets,
      timeoutMs,
      issuer: metadata.issuer,
      resource: resourceMetadata?.resource ?? url,
      session: dpop ? await this.#sessionOf(sdk) : undefined,
    };
    const provider = await machineGrant(sdk, grant);
    const resource = await sdk.selectResourceURL(url, provider, resourceMetadata);
    const wished = scope ?? asked ?? resourceMetadata?.scopes_supported?.join(' ');
    return sdk.fetchToken(provider, found.authorizationServerUrl, {
      metadata,
      ...(resource !== undefined && { resource: resourceMetadata?.resource ?? resource }),
      ...(wished !== undefined && { scope: wished }),
      fetchFn,
    });
  }
}

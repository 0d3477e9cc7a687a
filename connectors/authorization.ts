/**
 * The token of a connector with client credentials: asked for when the server wants one, and anew before it ends or when it is refused.
 * Invariants: one request for a token at a time, whose token all connections use; the secret goes to the declared issuer alone, over
 * https or within this machine; no text of a server is in an error.
 */
import { readFile, stat } from 'node:fs/promises';
import type { Connector } from '../authoring/connectors.js';
import {
  isSafeAddress,
  type ClientCredentials,
  type SecretPlace,
} from '../authoring/connector-auth.js';
import { boundedFetch, type Fetch } from './bounded-fetch.js';
import { Unsent } from './fault.js';
import type { Sdk, SdkAuth, SdkChallenge } from './sdk.js';
import type { Secrets } from './secrets.js';

const ANSWER_BYTES_MAX = 64 * 1024;
const SECRET_BYTES_MAX = 16 * 1024;
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

export interface AuthorizationParts {
  readonly connector: Connector;
  readonly auth: ClientCredentials;
  readonly secrets: Secrets;
  readonly clock: () => number;
}

/** One for all connections of a connector. */
export class Authorization {
  readonly #parts: AuthorizationParts;
  #known?: Authorized;
  #wanted?: Wanted;
  #asking?: Promise<void> | undefined;

  constructor(parts: AuthorizationParts) {
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
      const { access_token: token, expires_in: seconds } = await this.#token(sdk, wanted);
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
    const { clientId, issuer, scope } = auth;
    const url = connector.reached.kind === 'stdio' ? '' : connector.reached.url;
    const clientSecret = await readSecret(auth.clientSecret);
    for (const form of formsOf(clientId, clientSecret)) secrets.keep(form);
    const fetchFn = guardedFetch([url, issuer], connector.connectTimeoutMs);
    const found = await sdk.discoverOAuthServerInfo(url, {
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
      fetchFn,
    });
    const { authorizationServerMetadata: metadata, resourceMetadata } = found;
    if (metadata === undefined || plain(metadata.issuer) !== plain(issuer)) {
      throw new Refusal('the server names another issuer than the configuration');
    }
    const provider = new sdk.ClientCredentialsProvider({
      clientId,
      clientSecret,
      expectedIssuer: metadata.issuer,
    });
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

/** Why, in words of this program. */
class Refusal extends Error {}

const CODES: readonly string[] = [
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'unauthorized_client',
  'unsupported_grant_type',
];

/** A server may put whatever it was told into its errors. */
function reasonOf(error: unknown, sdk: Sdk): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof sdk.OAuthError && CODES.includes(error.code)) {
    return `its authorization server says ${error.code}`;
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return 'its authorization server did not answer in time';
  }
  return 'its authorization server cannot be used';
}

async function readSecret(place: SecretPlace): Promise<string> {
  const text = 'env' in place ? process.env[place.env] : await readSecretFile(place.file);
  const secret = text?.trim();
  if (secret === undefined || secret === '') {
    throw new Refusal(
      'env' in place
        ? `the variable ${place.env}, which is to hold the secret, is empty`
        : 'the file that is to hold the secret cannot be read, or is empty',
    );
  }
  return secret;
}

/** Errors: others than its owner may read the file. */
async function readSecretFile(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > SECRET_BYTES_MAX) return undefined;
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw new Refusal('the file of the secret may be read by others than its owner (chmod 600)');
  }
  return readFile(file, 'utf8').catch(() => undefined);
}

/** As it is sent: in a form, and in a header. */
function formsOf(clientId: string, secret: string): readonly string[] {
  const coded = encodeURIComponent(secret);
  return [
    secret,
    coded,
    Buffer.from(`${clientId}:${secret}`).toString('base64'),
    Buffer.from(`${encodeURIComponent(clientId)}:${coded}`).toString('base64'),
  ];
}

/** What describes servers is read from the connector's server and its issuer alone; nothing is followed elsewhere. */
function guardedFetch(readFrom: readonly string[], timeoutMs: number): Fetch {
  const origins = readFrom.map((address) => new URL(address).origin);
  const bounded = boundedFetch(ANSWER_BYTES_MAX);
  return async (url, init) => {
    const isRead = (init?.method ?? 'GET').toUpperCase() === 'GET';
    if (!isSafeAddress(url) || (isRead && !origins.includes(new URL(url).origin))) {
      throw new Refusal('the server names an address that is not to be asked');
    }
    return bounded(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  };
}

function plain(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/**
 * A login by an authorization code with PKCE: where a person is sent, and what becomes of the answer.
 * Invariants: the answer counts for the login that it names alone, and once; its issuer is the one that was asked (RFC 9207); the
 * authorization server is that of the protected resource's metadata (RFC 9728) and of the configuration, where it names one.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  isSafeAddress,
  isThisMachine,
  type AuthorizationCode,
} from '../../authoring/connector-auth.js';
import type { WantedLogin } from '../../store/connector-tokens.js';
import type { Fetch } from '../bounded-fetch.js';
import { loadSdk, type Sdk, type SdkResourceMetadata, type SdkServerMetadata } from '../sdk.js';
import { newBindingKey, requireProofs, sessionOf } from './bound-tokens.js';
import { clientFor, clientOf } from './client.js';
import { tokensIn, type Grant, type OAuthClient } from './grant.js';
import { guardedFetch, plain } from './guarded-fetch.js';
import { knownCode, Refusal } from './refusal.js';

const STATE_BYTES = 32;
const CODE_CHARS_MAX = 4_096;
const ADDRESS_CHARS_MAX = 16 * 1024;
const OFFLINE = 'offline_access';
/** What a login says has words of this program alone: nothing has to be hidden in it. */
const NO_ERRORS = { keep: () => undefined } as const;
/** Of PKCE; in two parts, because codes of the specification look like the whole. */
const CHALLENGE = `S${256}`;

export interface LoginServer {
  readonly url: string;
  readonly auth: AuthorizationCode;
  /** Of each request, ms. */
  readonly timeoutMs: number;
}

export interface LoginWish {
  readonly redirectUrl: string;
  /** What the server has said of the login that it wants. */
  readonly wanted: WantedLogin;
  /** Of an earlier login: its client is used again where it fits, and its scopes are asked for again. */
  readonly before?: Grant;
  /** The token of that login counts no more, and its client may not either: another one is registered. */
  readonly clientEnded?: boolean;
}

/** What has to be kept until the answer comes; secret. */
export interface PendingLogin {
  readonly v: 1;
  readonly state: string;
  readonly codeVerifier: string;
  readonly redirectUrl: string;
  readonly authorizationServerUrl: string;
  readonly metadata: SdkServerMetadata;
  readonly client: OAuthClient;
  readonly resource: string;
  readonly scope?: string;
}

/** As it comes back with the person. */
export interface LoginAnswer {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

export interface LoginStart {
  /** Where the person goes. */
  readonly address: string;
  readonly issuer: string;
  readonly pending: PendingLogin;
}

/** Names a login in a store, where its state does not stand. */
export function stateDigest(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}

/** Errors: `Refusal`, and those of the package, for `reasonOf`. */
export async function startLogin(server: LoginServer, wish: LoginWish): Promise<LoginStart> {
  const { url, auth } = server;
  const { redirectUrl, wanted, before, clientEnded = false } = wish;
  const sdk = await loadSdk();
  const resourceMetadata = await resourceMetadataOf(sdk, server, wanted);
  const authorizationServerUrl = serverOf(server, resourceMetadata);
  const fetchFn = requestsTo(server, authorizationServerUrl);
  const metadata = await sdk.discoverAuthorizationServerMetadata(authorizationServerUrl, {
    fetchFn,
  });
  requireUsable(metadata, server);
  if (auth.dpop === true) requireProofs(metadata);
  const resource = await resourceOf(sdk, url, resourceMetadata);
  const former = before?.metadata.issuer === metadata.issuer ? before : undefined;
  const scope = scopeOf(sdk, {
    base: auth.scope ?? wanted.scope ?? resourceMetadata?.scopes_supported?.join(' '),
    // What was granted, and what the server wants beside it, is not lost.
    more: [former?.scope, wanted.scope],
    metadata,
  });
  const client = await clientOf(sdk, {
    auth,
    metadata,
    authorizationServerUrl,
    redirectUrl,
    fetchFn,
    ...(former !== undefined && !clientEnded && { former }),
    ...(scope !== undefined && { scope }),
  });
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(authorizationServerUrl, {
    metadata,
    clientInformation: { client_id: client.id },
    redirectUrl,
    state,
    resource,
    ...(scope !== undefined && { scope }),
  });
  const address = authorizationUrl.href;
  if (address.length > ADDRESS_CHARS_MAX) throw new Refusal('the address of its login is too long');
  return {
    address,
    issuer: metadata.issuer,
    pending: {
      v: 1,
      state,
      codeVerifier,
      redirectUrl,
      authorizationServerUrl,
      metadata,
      client,
      resource,
      ...(scope !== undefined && { scope }),
    },
  };
}

/** Whether an answer is that of this login; in constant time. */
export function isAnswerOf({ state }: PendingLogin, answer: LoginAnswer): boolean {
  const [one, other] = [state, answer.state ?? ''].map((text) =>
    createHash('sha256').update(text).digest(),
  );
  return timingSafeEqual(one!, other!);
}

/** Errors: `Refusal`, and those of the package, for `reasonOf`. */
export async function finishLogin(
  server: LoginServer,
  pending: PendingLogin,
  { answer, now }: { readonly answer: LoginAnswer; readonly now: () => number },
): Promise<Grant> {
  const { authorizationServerUrl, metadata, client, redirectUrl, resource, scope } = pending;
  const sdk = await loadSdk();
  if (!isAnswerOf(pending, answer)) throw new Refusal('the answer is of another login');
  if (!isOfIssuer(server.auth, metadata)) {
    throw new Refusal('the login began with another issuer than the configuration names');
  }
  sdk.validateAuthorizationResponseIssuer({
    iss: answer.iss,
    expectedIssuer: metadata.issuer,
    issParameterSupported: metadata['authorization_response_iss_parameter_supported'] === true,
  });
  if (answer.error !== undefined) {
    throw new Refusal(`its authorization server says ${knownCode(answer.error) ?? 'no'}`);
  }
  const { code } = answer;
  if (code === undefined || code === '' || code.length > CODE_CHARS_MAX) {
    throw new Refusal('the answer has no code');
  }
  const { auth } = server;
  const binding = auth.dpop === true ? await newBindingKey(sdk) : undefined;
  const { information, authenticate } = await clientFor(sdk, { client, auth, secrets: NO_ERRORS });
  const tokens = await sdk.exchangeAuthorization(authorizationServerUrl, {
    metadata,
    clientInformation: information,
    ...(authenticate !== undefined && { addClientAuthentication: authenticate }),
    ...(binding !== undefined && { dpop: await sessionOf(sdk, binding) }),
    authorizationCode: code,
    ...(answer.iss !== undefined && { iss: answer.iss }),
    codeVerifier: pending.codeVerifier,
    redirectUri: redirectUrl,
    resource,
    fetchFn: requestsTo(server, authorizationServerUrl),
  });
  return {
    v: 1,
    authorizationServerUrl,
    metadata,
    client,
    redirectUrl,
    resource,
    // A server that says no scope has granted what was asked for (RFC 6749, 5.1).
    ...(scope !== undefined && { scope }),
    ...tokensIn(tokens, { now: now(), binding }),
  };
}

/** Whether a secret of the configuration may go there: the secret is for the issuer that the configuration names. */
export function isOfIssuer(
  { issuer }: AuthorizationCode,
  metadata: Pick<SdkServerMetadata, 'issuer'>,
): boolean {
  return issuer === undefined || plain(issuer) === plain(metadata.issuer);
}

/** Requests of a login, and of what follows from it. */
export function requestsTo(
  { url, auth: { issuer }, timeoutMs }: LoginServer,
  authorizationServerUrl: string,
): Fetch {
  return guardedFetch({ own: [url, issuer], named: authorizationServerUrl }, timeoutMs);
}

async function resourceMetadataOf(
  sdk: Sdk,
  { url, auth, timeoutMs }: LoginServer,
  { resourceMetadataUrl }: WantedLogin,
): Promise<SdkResourceMetadata | undefined> {
  try {
    return await sdk.discoverOAuthProtectedResourceMetadata(
      url,
      resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
      guardedFetch({ own: [url, auth.issuer] }, timeoutMs),
    );
  } catch (error) {
    if (error instanceof Refusal || (error as Error).name === 'TimeoutError') throw error;
    // A server without such metadata: it is its own authorization server, as the first revision of the protocol had it.
    return undefined;
  }
}

function serverOf({ url, auth }: LoginServer, metadata: SdkResourceMetadata | undefined): string {
  const named = metadata?.authorization_servers ?? [];
  const { issuer } = auth;
  const chosen =
    issuer === undefined ? named[0] : named.find((one) => plain(one) === plain(issuer));
  if (chosen !== undefined) return chosen;
  if (issuer !== undefined && named.length > 0) {
    throw new Refusal('the server names another issuer than the configuration');
  }
  return new URL('/', url).href;
}

function requireUsable(
  metadata: SdkServerMetadata | undefined,
  { url, auth: { issuer } }: LoginServer,
): asserts metadata is SdkServerMetadata {
  if (metadata === undefined) {
    throw new Refusal('no authorization server describes itself where the server says');
  }
  if (issuer !== undefined && plain(metadata.issuer) !== plain(issuer)) {
    throw new Refusal('the server names another issuer than the configuration');
  }
  if (metadata.code_challenge_methods_supported?.includes(CHALLENGE) !== true) {
    throw new Refusal('its authorization server does not offer PKCE with SHA-256');
  }
  const { authorization_endpoint: page } = metadata;
  if (!isSafeAddress(page) || (isThisMachine(page) && !isThisMachine(url))) {
    throw new Refusal('its authorization server names an address that nobody is to visit');
  }
}

/** RFC 8707: what the token is for. */
async function resourceOf(
  sdk: Sdk,
  url: string,
  metadata: SdkResourceMetadata | undefined,
): Promise<string> {
  if (metadata === undefined) {
    const { origin, pathname } = new URL(url);
    return `${origin}${pathname === '/' ? '' : pathname}`;
  }
  try {
    await sdk.selectResourceURL(url, {} as Parameters<Sdk['selectResourceURL']>[1], metadata);
  } catch {
    throw new Refusal('the server says that its tokens are for another server');
  }
  return metadata.resource;
}

function scopeOf(
  sdk: Sdk,
  {
    base,
    more,
    metadata,
  }: {
    readonly base: string | undefined;
    readonly more: readonly (string | undefined)[];
    readonly metadata: SdkServerMetadata;
  },
): string | undefined {
  const scope = sdk.computeScopeUnion(base, ...more);
  if (scope === undefined) return undefined;
  // Of a server that gives refresh tokens for it alone.
  return metadata.scopes_supported?.includes(OFFLINE) === true
    ? sdk.computeScopeUnion(scope, OFFLINE)
    : scope;
}

/**
 * What a login has brought, as it lies encrypted in the store.
 * Invariant: the token endpoint, the client and the resource are those of the login: a token goes to no server that was not part of it.
 */
import { createHash } from 'node:crypto';
import type { ConnectorTokenRow, SealedText, WantedLogin } from '../../store/connector-tokens.js';
import type { Secrets } from '../secrets.js';
import type { Sdk, SdkOAuthTokens, SdkServerMetadata } from '../sdk.js';
import { requireBound, type BindingKey } from './bound-tokens.js';
import { Refusal } from './refusal.js';
import { open, seal, type TokenKeys } from './token-keys.js';

export const TOKEN_CHARS_MAX = 16 * 1024;
const SCOPE_CHARS_MAX = 2_048;
const URL_CHARS_MAX = 2_048;
/** RFC 6749, appendix A.4. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Who this program is to an authorization server. */
export interface OAuthClient {
  readonly id: string;
  /** Of a registered client; that of a configured one is read where the configuration says. */
  readonly secret?: string;
  /** How the client authenticates itself, as the registration says. */
  readonly method?: string;
  /** Its authorization server has said that it does not know the client any more. */
  readonly forgotten?: boolean;
  readonly origin: 'configured' | 'document' | 'registered';
}

export interface Grant {
  readonly v: 1;
  readonly authorizationServerUrl: string;
  readonly metadata: SdkServerMetadata;
  readonly client: OAuthClient;
  readonly redirectUrl: string;
  readonly resource: string;
  readonly scope?: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** The key that the tokens are bound to; absent: bearer tokens. */
  readonly binding?: BindingKey;
  /** End of the access token, ms since epoch; absent: the server has not said. */
  readonly until?: number;
}

/** sha256 of an address, which may hold secrets. */
export function serverDigest(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}

export interface GrantOf {
  readonly tenant: string;
  readonly connector: string;
  readonly server: string;
}

export function sealGrant(keys: TokenKeys, grant: Grant, of: GrantOf): SealedText {
  return seal(keys, JSON.stringify(grant), aboutOf(of));
}

/** Errors: `Refusal`. */
export function openGrant(
  keys: TokenKeys,
  row: ConnectorTokenRow & { readonly token: SealedText },
): Grant {
  return JSON.parse(open(keys, row.token, aboutOf(row))) as Grant;
}

function aboutOf({ tenant, connector, server }: GrantOf): string {
  return JSON.stringify(['holdfast connector token', 1, tenant, connector, server]);
}

/** Every form in which this grant's secrets may come back from a server. */
export function keepSecrets(
  { accessToken, refreshToken, client }: Partial<Grant>,
  secrets: Secrets,
): void {
  for (const value of [accessToken, refreshToken, client?.secret]) {
    if (value !== undefined) secrets.keep(value);
  }
}

interface GrantMoment {
  readonly now: number;
  /** The key that was proven with the request. */
  readonly binding?: BindingKey | undefined;
}

/** The tokens of an answer. Errors: `Refusal`. */
export function tokensIn(
  answer: SdkOAuthTokens,
  { now, binding }: GrantMoment,
): Pick<Grant, 'accessToken' | 'refreshToken' | 'scope' | 'until' | 'binding'> {
  const { access_token: accessToken, refresh_token: refreshToken, scope } = answer;
  const { token_type: type, expires_in: seconds } = answer;
  if (binding !== undefined) requireBound(answer);
  else if (type.toLowerCase() !== 'bearer') throw new Refusal('its token is no bearer token');
  if (Math.max(accessToken.length, refreshToken?.length ?? 0) > TOKEN_CHARS_MAX) {
    throw new Refusal('its token is too long');
  }
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(binding !== undefined && { binding }),
    ...(scope !== undefined && isScope(scope) && { scope }),
    ...(seconds !== undefined && { until: now + Math.max(0, seconds) * 1_000 }),
  };
}

/** What a challenge of the connector's server says, as far as it can be kept and shown. */
export function wantedOf(
  { scope, resourceMetadataUrl: address }: ReturnType<Sdk['extractWWWAuthenticateParams']>,
  { secrets, url }: { readonly secrets: Secrets; readonly url: string },
): WantedLogin {
  const isUsable = (text: string): boolean => secrets.strip(text) === text;
  const isOwn = address !== undefined && address.origin === new URL(url).origin;
  return {
    ...(scope !== undefined && isScope(scope) && isUsable(scope) && { scope }),
    ...(isOwn &&
      address.href.length <= URL_CHARS_MAX &&
      isUsable(address.href) && { resourceMetadataUrl: address.href }),
  };
}

export function isScope(text: string): boolean {
  return text.length <= SCOPE_CHARS_MAX && SCOPE.test(text);
}

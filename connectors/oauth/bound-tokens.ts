/**
 * Tokens that are bound to a key of this program (DPoP, RFC 9449): each request proves that its sender has the key, so that a token
 * alone is worth nothing.
 * Invariants: a proof is of one request and is sent once; a key leaves this program encrypted in the store, or never; where bound tokens
 * are declared, no other token is used.
 */
import { webcrypto } from 'node:crypto';
import type { Fetch } from '../bounded-fetch.js';
import type { Sdk, SdkDpopSession, SdkServerMetadata } from '../sdk.js';
import { Refusal } from './refusal.js';

const ALGORITHM = 'ES256';
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const BEARER = /^Bearer (.+)$/i;

/** As it lies in the store, encrypted with the tokens that are bound to it. */
export interface BindingKey {
  /** A private key on the curve P-256. */
  readonly jwk: webcrypto.JsonWebKey;
  /** RFC 7638. */
  readonly thumbprint: string;
}

export async function newBindingKey(sdk: Sdk): Promise<BindingKey> {
  const pair = await sdk.generateDpopKeyPair({ alg: ALGORITHM, extractable: true });
  const jwk = await webcrypto.subtle.exportKey('jwk', pair.privateKey);
  return { jwk, thumbprint: pair.thumbprint };
}

export async function sessionOf(
  sdk: Sdk,
  { jwk, thumbprint }: BindingKey,
): Promise<SdkDpopSession> {
  const { kty = '', crv = '', x = '', y = '', d = '' } = jwk;
  const publicJwk = { kty, crv, x, y };
  const { subtle } = webcrypto;
  const [privateKey, publicKey] = await Promise.all([
    subtle.importKey('jwk', { ...publicJwk, d }, CURVE, false, ['sign']),
    subtle.importKey('jwk', publicJwk, CURVE, true, ['verify']),
  ]);
  const keyPair = { privateKey, publicKey, publicJwk, thumbprint, alg: ALGORITHM } as const;
  return sdk.DpopSession.create({ keyPair });
}

interface Binding {
  readonly send: Fetch;
  /** Undefined: the token is bound to no key. */
  session(): Promise<SdkDpopSession | undefined>;
}

/** Requests that carry a token carry a proof. */
export function boundFetch(sdk: Sdk, { send, session }: Binding): Fetch {
  return async (url, init) => {
    const [, token] = BEARER.exec(new Headers(init?.headers).get('authorization') ?? '') ?? [];
    const proving = token === undefined ? undefined : await session();
    if (token === undefined || proving === undefined) return send(url, init);
    return sdk.withDpop(proving, () => token)(send)(url, init);
  };
}

/** Errors: `Refusal`. */
export function requireProofs(metadata: SdkServerMetadata): void {
  const { dpop_signing_alg_values_supported: taken } = metadata as {
    readonly dpop_signing_alg_values_supported?: unknown;
  };
  if (Array.isArray(taken) && !taken.includes(ALGORITHM)) {
    throw new Refusal(`its authorization server takes no proofs that are signed with ${ALGORITHM}`);
  }
}

/** Errors: `Refusal`. */
export function requireBound({ token_type: type }: { readonly token_type: string }): void {
  if (type.toLowerCase() !== 'dpop') {
    throw new Refusal('its token is bound to no key, which the configuration wants (dpop)');
  }
}

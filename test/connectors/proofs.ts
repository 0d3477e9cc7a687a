/** Proofs of possession (DPoP, RFC 9449), checked as servers check them: each is of one request, and counts once. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { calculateJwkThumbprint, decodeProtectedHeader, importJWK, jwtVerify } from 'jose';

export interface ProofChecks {
  /** Of a request for a token: the key, or the error that it is answered with. */
  atTokens(
    request: IncomingMessage,
    url: string,
  ): Promise<{ readonly thumbprint: string; readonly wants?: string }>;
  /** Of a request with a token: why it is refused. */
  atServer(request: IncomingMessage, url: string): Promise<string | undefined>;
  bind(token: string, thumbprint: string): void;
}

interface Proven {
  readonly thumbprint: string;
  readonly nonce: unknown;
  readonly tokenHash: unknown;
}

/** `nonce`: what proofs have to have; undefined: nothing. */
export function proofChecks(nonce: () => string | undefined): ProofChecks {
  const bound = new Map<string, string>();
  const seen = new Set<string>();

  async function proven({ headers, method = '' }: IncomingMessage, url: string): Promise<Proven> {
    const proof = String(headers['dpop']);
    const { jwk, typ } = decodeProtectedHeader(proof);
    const key = await importJWK(jwk!, 'ES256');
    const { payload } = await jwtVerify(proof, key, { algorithms: ['ES256'] });
    const { jti = '', htm, htu, ath, nonce: given } = payload;
    const isOfRequest = htm === method && htu === url && typ === 'dpop+jwt' && !('d' in jwk!);
    if (!isOfRequest || seen.has(jti)) throw new Error('The proof is of another request.');
    seen.add(jti);
    return { thumbprint: await calculateJwkThumbprint(jwk!), nonce: given, tokenHash: ath };
  }

  return {
    async atTokens(request, url) {
      const found = await proven(request, url).catch(() => undefined);
      if (found === undefined) return { thumbprint: '', wants: 'invalid_dpop_proof' };
      const { thumbprint } = found;
      return found.nonce === nonce() ? { thumbprint } : { thumbprint, wants: 'use_dpop_nonce' };
    },
    async atServer(request, url) {
      const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ');
      const found = await proven(request, url).catch(() => undefined);
      const hash = createHash('sha256').update(token).digest('base64url');
      const isBound = found?.tokenHash === hash && found.thumbprint === bound.get(token);
      if (scheme !== 'DPoP' || !isBound) return 'invalid_token';
      return found.nonce === nonce() ? undefined : 'use_dpop_nonce';
    },
    bind(token, thumbprint) {
      bound.set(token, thumbprint);
    },
  };
}

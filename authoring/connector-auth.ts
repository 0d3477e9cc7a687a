/**
 * OAuth of a connector by client credentials, as a configuration declares it.
 * Invariants: the configuration has the place of the secret and never the secret; the secret goes to one named issuer.
 */
import { z } from 'zod';

/** Where a secret is read, each time it is used. */
export type SecretPlace = { readonly env: string } | { readonly file: string };

export interface ClientCredentials {
  readonly grant: 'client_credentials';
  readonly clientId: string;
  readonly clientSecret: SecretPlace;
  /** The authorization server that the client is registered with; the secret goes to no other. */
  readonly issuer: string;
  /** Scopes that are asked for, with spaces between. Default: those that the server names. */
  readonly scope?: string;
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether secrets may be sent there: over https, or within this machine. */
export function isSafeAddress(address: string | URL): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
}

const address = z
  .url({ protocol: /^https?$/ })
  .max(4_096)
  .refine(isSafeAddress, 'must begin with https, but for this machine');
const path = z.string().min(1).max(4_096);

export const clientCredentials = z.strictObject({
  grant: z.literal('client_credentials'),
  clientId: z.string().min(1).max(2_048),
  clientSecret: z.union([
    z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/) }),
    z.strictObject({ file: path }),
  ]),
  issuer: address,
  scope: z.string().min(1).max(2_048).optional(),
});

export function isClientCredentials(auth: object): auth is ClientCredentials {
  return 'grant' in auth;
}

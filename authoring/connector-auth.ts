/**
 * OAuth of a connector, as a configuration declares it: by client credentials, or by an authorization code, for which a person logs in.
 * Invariants: the configuration has the place of a secret and never the secret; the secret goes to one named issuer.
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

/** An operator logs in (`holdfast mcp login`, or at the desk); tokens lie encrypted in the store. */
export interface AuthorizationCode {
  readonly grant: 'authorization_code';
  /** Of a client that the authorization server knows. Absent: a metadata document, else a registration. */
  readonly clientId?: string;
  /** Of that client, where it has one; needs `issuer`. */
  readonly clientSecret?: SecretPlace;
  /** Address of a client id metadata document, for authorization servers that read such documents. */
  readonly clientMetadataUrl?: string;
  /** The authorization server that may be logged in at. Absent: the one that the connector's server names. */
  readonly issuer?: string;
  /** Scopes that are asked for, with spaces between. Default: those that the server names. */
  readonly scope?: string;
}

export type DeclaredAuth = ClientCredentials | AuthorizationCode;

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether secrets may be sent there: over https, or within this machine. */
export function isSafeAddress(address: string | URL): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
}

/** Whether the address is one of this machine. */
export function isThisMachine(address: string | URL): boolean {
  return LOOPBACK.includes(new URL(address).hostname);
}

const address = z
  .url({ protocol: /^https?$/ })
  .max(4_096)
  .refine(isSafeAddress, 'must begin with https, but for this machine');
const path = z.string().min(1).max(4_096);

const secretPlace = z.union([
  z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/) }),
  z.strictObject({ file: path }),
]);
const clientId = z.string().min(1).max(2_048);
const scope = z.string().min(1).max(2_048);

const clientCredentials = z.strictObject({
  grant: z.literal('client_credentials'),
  clientId,
  clientSecret: secretPlace,
  issuer: address,
  scope: scope.optional(),
});

const authorizationCode = z
  .strictObject({
    grant: z.literal('authorization_code'),
    clientId: clientId.optional(),
    clientSecret: secretPlace.optional(),
    clientMetadataUrl: z
      .url({ protocol: /^https$/ })
      .max(2_048)
      .refine((url) => new URL(url).pathname !== '/', 'must have a path')
      .optional(),
    issuer: address.optional(),
    scope: scope.optional(),
  })
  .refine(
    (auth) =>
      auth.clientSecret === undefined || (auth.clientId !== undefined && auth.issuer !== undefined),
    { path: ['clientSecret'], message: 'needs clientId and issuer: the secret goes nowhere else' },
  );

export const declaredAuth = z.discriminatedUnion('grant', [clientCredentials, authorizationCode]);

/** Of a token function it is not. */
export function isDeclaredAuth(auth: object): auth is DeclaredAuth {
  return 'grant' in auth;
}

export function isClientCredentials(auth: object): auth is ClientCredentials {
  return 'grant' in auth && auth.grant === 'client_credentials';
}

export function isAuthorizationCode(auth: object): auth is AuthorizationCode {
  return 'grant' in auth && auth.grant === 'authorization_code';
}

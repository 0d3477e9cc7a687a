/**
 * OAuth of a connector, as a configuration declares it: by the program itself, or by an authorization code, for which a person logs in.
 * Invariants: the configuration has the place of a secret and never the secret; what is secret goes to named issuers alone.
 */
import { z } from 'zod';

/** Where a secret is read, each time it is used. */
export type SecretPlace = { readonly env: string } | { readonly file: string };

/** Without one of them a key signs as its kind usually does: RS256 with RSA, ES256 and so on with a curve. */
export const SIGNING_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** How a client proves that it is the one: by a secret, or by what it signs with a private key (`private_key_jwt`, RFC 7523). */
export interface ClientProof {
  readonly clientSecret?: SecretPlace;
  /** PKCS 8 in PEM; the key is neither kept nor sent. */
  readonly privateKey?: SecretPlace;
  /** Of `privateKey`. */
  readonly signingAlgorithm?: SigningAlgorithm;
}

interface TokenWish {
  /** Scopes that are asked for, with spaces between. Default: those that the server names. */
  readonly scope?: string;
  /** Tokens are bound to a key of this program (DPoP, RFC 9449), and others are not taken. Default false. */
  readonly dpop?: boolean;
}

/** The program asks for itself, with its secret or its private key. */
export interface ClientCredentials extends ClientProof, TokenWish {
  readonly grant: 'client_credentials';
  readonly clientId: string;
  /** The authorization server that the client is registered with; what is secret goes to no other. */
  readonly issuer: string;
}

/** The program shows a signed assertion of somebody whom the authorization server trusts (RFC 7523, section 2.1). */
export interface JwtBearer extends ClientProof, TokenWish {
  readonly grant: 'jwt_bearer';
  readonly clientId: string;
  /** The authorization server; what is secret goes to no other. */
  readonly issuer: string;
  /** Of a workload, as its platform writes it for this authorization server. */
  readonly assertion?: SecretPlace;
  /** Whose identity provider gives the assertion. One of the two is there. */
  readonly identity?: IdentityProvider;
}

/** Gives an assertion for a person's id token (token exchange, RFC 8693), as enterprises manage what their people may use. */
export interface IdentityProvider {
  /** What is secret of a person goes there and nowhere else. */
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret?: SecretPlace;
  /** As the person's login with the identity provider has brought it. */
  readonly idToken: SecretPlace;
}

/** An operator logs in (`holdfast mcp login`, or at the desk); tokens lie encrypted in the store. */
export interface AuthorizationCode extends ClientProof, TokenWish {
  readonly grant: 'authorization_code';
  /** Of a client that the authorization server knows. Absent: a metadata document, else a registration. */
  readonly clientId?: string;
  /** Address of a client id metadata document, for authorization servers that read such documents. */
  readonly clientMetadataUrl?: string;
  /** The authorization server that may be logged in at. Absent: the one that the connector's server names. */
  readonly issuer?: string;
}

/** Of the program itself: nobody logs in. */
export type MachineAuth = ClientCredentials | JwtBearer;
export type DeclaredAuth = MachineAuth | AuthorizationCode;

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
const proof = {
  clientSecret: secretPlace.optional(),
  privateKey: secretPlace.optional(),
  signingAlgorithm: z.enum(SIGNING_ALGORITHMS).optional(),
};
const wish = { scope: z.string().min(1).max(2_048).optional(), dpop: z.boolean().optional() };
const algorithmNeedsKey = {
  path: ['signingAlgorithm'],
  message: 'needs privateKey, which it signs with',
};

const clientCredentials = z
  .strictObject({
    grant: z.literal('client_credentials'),
    clientId,
    ...proof,
    issuer: address,
    ...wish,
  })
  .refine(hasOneProof, {
    path: ['clientSecret'],
    message: 'or privateKey is there, and not both: one of them proves who the client is',
  })
  .refine(hasKeyOfAlgorithm, algorithmNeedsKey);

const identity = z.strictObject({
  tokenEndpoint: address,
  clientId,
  clientSecret: secretPlace.optional(),
  idToken: secretPlace,
});

const jwtBearer = z
  .strictObject({
    grant: z.literal('jwt_bearer'),
    clientId,
    ...proof,
    issuer: address,
    assertion: secretPlace.optional(),
    identity: identity.optional(),
    ...wish,
  })
  .refine((auth) => (auth.assertion === undefined) !== (auth.identity === undefined), {
    path: ['assertion'],
    message: 'or identity is there, and not both: one of them says where the assertion is from',
  })
  .refine(hasAtMostOneProof, {
    path: ['privateKey'],
    message: 'and clientSecret are not both there: one of them proves who the client is',
  })
  .refine(hasKeyOfAlgorithm, algorithmNeedsKey);

const authorizationCode = z
  .strictObject({
    grant: z.literal('authorization_code'),
    clientId: clientId.optional(),
    ...proof,
    clientMetadataUrl: z
      .url({ protocol: /^https$/ })
      .max(2_048)
      .refine((url) => new URL(url).pathname !== '/', 'must have a path')
      .optional(),
    issuer: address.optional(),
    ...wish,
  })
  .refine(hasAtMostOneProof, {
    path: ['privateKey'],
    message: 'and clientSecret are not both there: one of them proves who the client is',
  })
  .refine((auth) => auth.clientSecret === undefined || isNamed(auth), {
    path: ['clientSecret'],
    message: 'needs clientId and issuer: the secret goes nowhere else',
  })
  .refine((auth) => auth.privateKey === undefined || isNamed(auth), {
    path: ['privateKey'],
    message: 'needs clientId and issuer: what it signs goes nowhere else',
  })
  .refine(hasKeyOfAlgorithm, algorithmNeedsKey);

export const declaredAuth = z.discriminatedUnion('grant', [
  clientCredentials,
  jwtBearer,
  authorizationCode,
]);

interface GivenProof {
  readonly clientSecret?: unknown;
  readonly privateKey?: unknown;
  readonly signingAlgorithm?: unknown;
}

function hasOneProof({ clientSecret, privateKey }: GivenProof): boolean {
  return (clientSecret === undefined) !== (privateKey === undefined);
}

function hasAtMostOneProof({ clientSecret, privateKey }: GivenProof): boolean {
  return clientSecret === undefined || privateKey === undefined;
}

function hasKeyOfAlgorithm({ privateKey, signingAlgorithm }: GivenProof): boolean {
  return signingAlgorithm === undefined || privateKey !== undefined;
}

function isNamed(auth: { readonly clientId?: unknown; readonly issuer?: unknown }): boolean {
  return auth.clientId !== undefined && auth.issuer !== undefined;
}

/** Of a token function it is not. */
export function isDeclaredAuth(auth: object): auth is DeclaredAuth {
  return 'grant' in auth;
}

export function isMachineAuth(auth: object): auth is MachineAuth {
  return isDeclaredAuth(auth) && auth.grant !== 'authorization_code';
}

export function isAuthorizationCode(auth: object): auth is AuthorizationCode {
  return 'grant' in auth && auth.grant === 'authorization_code';
}

/**
 * Logging in with a token of the company's own identity provider: signature, issuer, audience and time are
 * checked, and its claims become a person by configuration.
 * Invariants: only signatures of public keys count; a token without an expiry does not; that the provider's keys
 * cannot be had says nothing about a token.
 */
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import type { JwtSettings } from '../../authoring/index.js';
import { Problem } from '../http/problem.js';
import {
  isName,
  isTenant,
  personIdOf,
  rolesFrom,
  SERVICE_PREFIX,
  textsOf,
  type Authenticator,
  type Login,
} from './person.js';

/** How long the provider may take to give its keys, and how long they are kept, in ms. */
const KEYS_LIMIT_MS = 5_000;
const KEYS_KEPT_MS = 600_000;
const KEYS_COOLDOWN_MS = 30_000;
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What roles of tokens are called here; undefined: as they are. */
export type RoleNames = Readonly<Record<string, readonly string[]>> | undefined;

export function jwtLogin(settings: JwtSettings, roleNames: RoleNames): Authenticator {
  const keys = createRemoteJWKSet(new URL(settings.jwksUrl), {
    timeoutDuration: KEYS_LIMIT_MS,
    cacheMaxAge: KEYS_KEPT_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
  });
  const { issuer, audience, algorithms, clockToleranceS: clockTolerance } = settings;
  return async ({ token }) => {
    if (!TOKEN.test(token)) return undefined;
    let claims: JWTPayload;
    try {
      const options = { issuer, audience, algorithms, clockTolerance, requiredClaims: ['exp'] };
      ({ payload: claims } = await jwtVerify(token, keys, options));
    } catch (error) {
      if (!isAboutToken(error)) throw noKeys();
      return { ok: false, why: error.code };
    }
    const login = personOf(claims, settings, roleNames);
    if (!login.ok || claims.exp === undefined) return login;
    return { ...login, until: (claims.exp + clockTolerance) * 1_000 };
  };
}

function personOf(
  claims: JWTPayload,
  { claims: names, tenant: only = 'default' }: JwtSettings,
  roleNames: RoleNames,
): Login {
  const id = personIdOf(claimAt(claims, names.person));
  const tenant = names.tenant === undefined ? only : claimAt(claims, names.tenant);
  const said = claimAt(claims, names.name);
  if (id === undefined || id.toLowerCase().startsWith(SERVICE_PREFIX)) {
    return { ok: false, why: 'no usable person' };
  }
  if (!isTenant(tenant)) return { ok: false, why: 'no usable tenant' };
  const name = isName(said) ? said : id;
  const roles = rolesFrom(namedRoles(textsOf(claimAt(claims, names.roles)), roleNames));
  return { ok: true, person: { id, name, tenant, roles, via: 'jwt' } };
}

/** With names given, what they do not name is no role here. Of somebody in many groups few may have names. */
function namedRoles(roles: readonly string[], names: RoleNames): readonly string[] {
  if (names === undefined) return roles;
  return roles.flatMap((role) => (Object.hasOwn(names, role) ? (names[role] ?? []) : []));
}

/** A whole name first: some providers use claims like `https://example.org/roles`. */
function claimAt(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((value, part) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    return (value as Readonly<Record<string, unknown>>)[part];
  }, claims);
}

const ABOUT_TOKENS = [
  errors.JWTExpired,
  errors.JWTClaimValidationFailed,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
] as const;

function isAboutToken(error: unknown): error is errors.JOSEError {
  return ABOUT_TOKENS.some((kind) => error instanceof kind);
}

/** The keys could not be had or read: a good token would have failed as well. */
function noKeys(): Problem {
  return new Problem(503, {
    code: 'unavailable',
    detail: 'The identity provider does not answer. Try again in a moment.',
    headers: { 'retry-after': '5' },
  });
}

/**
 * Logging in while developing: one token, made at the start and printed. Only on this machine: the console
 * refuses to listen anywhere else with it. Whoever has the token may speak as anybody, so that one person can
 * try out what several have to do.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { textOfHeader } from '../../pure/header-text.js';
import { sha256 } from './token-digest.js';
import { isTenant, personIdOf, rolesFrom, type Authenticator } from './person.js';

export interface LocalLogin {
  readonly token: string;
  readonly authenticate: Authenticator;
}

const TOKEN_BYTES = 24;
const DEVELOPER = 'developer';

/** One that nobody knows yet. */
export function newLocalToken(): string {
  return `hf_local_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
}

/** Whether a text is a token that was made here. */
export function isLocalToken(text: string): boolean {
  return /^hf_local_[A-Za-z0-9_-]{32}$/.test(text);
}

/** `roles`: what the developer has without saying so. `token`: one that was made before; default: a new one. */
export function localLogin(roles: readonly string[], token = newLocalToken()): LocalLogin {
  const expected = sha256(token);
  return {
    token,
    async authenticate({ token: given, header }) {
      if (!given.startsWith('hf_local_')) return undefined;
      if (!timingSafeEqual(sha256(given), expected)) return { ok: false, why: 'local token' };
      const id = personIdOf(textOfHeader(header('holdfast-as') ?? DEVELOPER));
      const tenant = textOfHeader(header('holdfast-tenant') ?? 'default');
      if (id === undefined || !isTenant(tenant)) return { ok: false, why: 'local name' };
      const said = header('holdfast-roles');
      const mine = rolesFrom(said === undefined ? [...roles, DEVELOPER] : textOfHeader(said));
      return { ok: true, person: { id, name: id, tenant, roles: mine, via: 'local' } };
    },
  };
}

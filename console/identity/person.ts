/**
 * Who is asking: told apart at the edge, and the only place that a tenant ever comes from.
 * Invariant: one id is one person, whatever way they logged in: ids of services are given to services alone,
 * and what looks the same to everybody (Unicode's canonical equivalence) is the same id.
 */
import { ALL_TENANTS } from '../../store/desk-keys.js';

export interface Person {
  /** Names them for good; decisions and the audit trail carry it. */
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly via: 'local' | 'jwt' | 'service';
}

/** What a login came to. A failure says no more than that, so that nobody learns from it. */
export type Login =
  | {
      readonly ok: true;
      readonly person: Person;
      /** When the token ends, ms since epoch; absent: never. */
      readonly until?: number;
    }
  /** `why` is for the console's own trail, never for the answer. */
  | { readonly ok: false; readonly why: string };

/** One way to log in, by the token of the request; undefined: the token is not of this kind. */
export type Authenticator = (request: LoginRequest) => Promise<Login | undefined>;

export interface LoginRequest {
  readonly token: string;
  header(name: string): string | undefined;
}

export const ROLES_MAX = 30;
const ROLE = /^[^\p{C}\s][^\p{C}]{0,63}$/u;
const PERSON_CHARS_MAX = 200;

/** Roles as decisions can carry them, the first ROLES_MAX; what does not fit is no role. */
export function rolesFrom(value: unknown): readonly string[] {
  return [...new Set(textsOf(value).filter((one) => ROLE.test(one)))].slice(0, ROLES_MAX);
}

/** The names in a claim or header: a list, or one text. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/[\s,]+/);
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

/** Begins the ids of services, and of nobody else. */
export const SERVICE_PREFIX = 'service:';

/** The id of a person; undefined: it cannot be one. */
export function personIdOf(value: unknown): string | undefined {
  if (!isName(value)) return undefined;
  const id = value.normalize('NFC');
  return isName(id) ? id : undefined;
}

/** Whether a token may say it: the name that stands for all tenants belongs to none. */
export function isTenant(value: unknown): value is string {
  return isName(value) && value !== ALL_TENANTS;
}

/** A person's or tenant's name as it may stand in keys and signatures. */
export function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() === value &&
    value.length > 0 &&
    value.length <= PERSON_CHARS_MAX &&
    !/\p{C}/u.test(value)
  );
}

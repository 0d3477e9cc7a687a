/** From a request to a person, by the bearer token and the ways to log in that are configured. */
import { notAllowed, Problem } from '../http/problem.js';
import type { Authenticator, Login, Person } from './person.js';

const BEARER = /^Bearer ([\x21-\x7e]{1,8192})$/i;

export async function authenticate(
  request: Request,
  ways: readonly Authenticator[],
): Promise<Login> {
  const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token === undefined) return { ok: false, why: 'no bearer token' };
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  for (const way of ways) {
    const login = await way({ token, header });
    if (login !== undefined) return login;
  }
  return { ok: false, why: 'unknown kind of token' };
}

/** One answer for every reason: a guess learns nothing. */
export function notLoggedIn(): Problem {
  return new Problem(401, {
    code: 'not_logged_in',
    detail: 'Log in: send a valid token in the header Authorization.',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

export type Access = 'read' | 'message' | 'interrupt' | 'freeze' | 'audit';

/** Somebody without any role is known, and has no business here. */
export function checkAccess(person: Person, needed: readonly string[] | undefined): void {
  if (person.roles.length === 0) throw notAllowed('You have no role here.');
  if (needed === undefined || person.roles.some((role) => needed.includes(role))) return;
  throw notAllowed('None of your roles allows this.');
}

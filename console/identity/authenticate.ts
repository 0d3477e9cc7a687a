/** From a request to a person, by the bearer token and the ways to log in that are configured. */
import { Problem } from '../http/problem.js';
import type { Authenticator, Login } from './person.js';

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

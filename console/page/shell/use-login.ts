/** Who is logged in, from the token of the address or of this browser. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, get, onLoggedOut, pathOf } from '../data/api.js';
import type { Person } from '../data/api-types.js';
import { hasToken, takeToken } from '../data/session.js';

const AGAIN_MS = 2_000;

export type Login =
  | { readonly state: 'unknown' }
  | { readonly state: 'token wanted' }
  | { readonly state: 'no access'; readonly why: string }
  /** Another number is another login: what was shown for the one before goes. */
  | { readonly state: 'known'; readonly me: Person; readonly number: number };

export interface LoggingIn {
  readonly login: Login;
  /** With the token that is there now, as whom this browser acts now. */
  readonly begin: () => void;
}

export function useLogin(): LoggingIn {
  const [login, setLogin] = useState<Login>({ state: 'unknown' });
  const number = useRef(0);
  const begin = useRef((): void => {
    const mine = (number.current += 1);
    void loginNow(mine).then((found) => {
      // Somebody has logged in anew meanwhile.
      if (mine !== number.current) return;
      if (found === 'again') setTimeout(begin.current, AGAIN_MS);
      else if (found !== undefined) setLogin(found);
    });
  });
  useEffect(() => {
    onLoggedOut(() => setLogin({ state: 'token wanted' }));
    // A link with another token, opened in this tab.
    const take = (): void => {
      if (takeToken()) begin.current();
    };
    window.addEventListener('hashchange', take);
    takeToken();
    begin.current();
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return { login, begin: begin.current };
}

/** Undefined: whoever asks has been told by the API that nobody is logged in. */
async function loginNow(number: number): Promise<Login | 'again' | undefined> {
  if (!hasToken()) return { state: 'token wanted' };
  try {
    return { state: 'known', me: await get<Person>(pathOf('me')), number };
  } catch (error) {
    const { status = 0 } = error as { readonly status?: number };
    if (status === 401) return undefined;
    if (error instanceof ApiProblem && status === 403) {
      return { state: 'no access', why: error.message };
    }
    return 'again';
  }
}

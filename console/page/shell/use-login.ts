/** Who is logged in, from the token of the address or of this browser. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, get, onLoggedOut, pathOf } from '../data/api.js';
import type { Person } from '../data/api-types.js';
import { hasToken, takeToken } from '../data/session.js';

const AGAIN_MS = 2_000;

export type Refused = 'damaged' | 'refused' | 'over';

export type Login =
  | { readonly state: 'unknown' }
  /** `isUnsent`: what somebody pressed was refused for it. */
  | { readonly state: 'token wanted'; readonly why?: Refused; readonly isUnsent?: boolean }
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
  const link = useRef<ReturnType<typeof takeToken>>(undefined);
  const begin = useRef((): void => {
    const mine = (number.current += 1);
    setLogin((before) => (before.state === 'token wanted' ? { state: before.state } : before));
    void loginNow(mine, link.current === 'damaged').then((found) => {
      // Somebody has logged in anew meanwhile.
      if (mine !== number.current) return;
      if (found === 'again') setTimeout(begin.current, AGAIN_MS);
      else setLogin(found);
    });
  });
  useEffect(() => {
    onLoggedOut((isUnsent) => setLogin((before) => loggedOut(before, isUnsent)));
    // A link with another token, opened in this tab.
    const take = (): void => {
      link.current = takeToken();
      if (link.current === 'taken' || (link.current === 'damaged' && !hasToken())) begin.current();
    };
    window.addEventListener('hashchange', take);
    link.current = takeToken();
    begin.current();
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return { login, begin: begin.current };
}

/** Of several requests that are refused one may have been to do something. */
function loggedOut(before: Login, isUnsent: boolean): Login {
  if (before.state === 'token wanted') {
    return { ...before, isUnsent: isUnsent || before.isUnsent === true };
  }
  return { state: 'token wanted', why: before.state === 'known' ? 'over' : 'refused', isUnsent };
}

async function loginNow(number: number, isDamaged: boolean): Promise<Login | 'again'> {
  if (!hasToken()) return { state: 'token wanted', ...(isDamaged && { why: 'damaged' }) };
  try {
    return { state: 'known', me: await get<Person>(pathOf('me')), number };
  } catch (error) {
    const { status = 0 } = error as { readonly status?: number };
    if (status === 401) return { state: 'token wanted', why: 'refused' };
    if (error instanceof ApiProblem && status === 403) {
      return { state: 'no access', why: error.message };
    }
    return 'again';
  }
}

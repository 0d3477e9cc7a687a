/**
 * Who is logged in: the token, and in local development as whom to act.
 * Invariant: the token leaves the address at once, so that no link, history or screenshot carries it.
 */
import { headerText } from '../../../pure/header-text.js';

const TOKEN = 'holdfast-token';
const ACTING = 'holdfast-acting';

export interface Acting {
  readonly as?: string;
  readonly roles?: string;
  readonly tenant?: string;
}

/** What a header can hold. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,8192}$/.test(text);
}

/** Takes the token of `#token=…`; undefined: there is none. */
export function takeToken(): 'taken' | 'damaged' | undefined {
  const given = location.hash.startsWith('#token=') ? location.hash.slice(7) : '';
  if (given === '') return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  const token = decoded(given) ?? '';
  if (!isToken(token)) return 'damaged';
  keepToken(token);
  return 'taken';
}

/** Undefined: a link that somebody cut off. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export function keepToken(token: string): void {
  forgetToken();
  placeOf(token).setItem(TOKEN, token);
}

/** The token of a local console ends with its process, so other tabs may use it; any other one stays in its tab. */
function placeOf(token: string): Storage {
  return token.startsWith('hf_local_') ? localStorage : sessionStorage;
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN);
  localStorage.removeItem(TOKEN);
}

export function hasToken(): boolean {
  return tokenOf() !== null;
}

function tokenOf(): string | null {
  const token = sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN);
  return token !== null && isToken(token) ? token : null;
}

export function acting(): Acting {
  try {
    return JSON.parse(sessionStorage.getItem(ACTING) ?? '{}') as Acting;
  } catch {
    return {};
  }
}

export function actAs(as: Acting): void {
  sessionStorage.setItem(ACTING, JSON.stringify(as));
}

export function loginHeaders(): Record<string, string> {
  const token = tokenOf();
  if (token === null) return {};
  const { as = '', roles = '', tenant = '' } = token.startsWith('hf_local_') ? acting() : {};
  return {
    authorization: `Bearer ${token}`,
    ...(as !== '' && { 'holdfast-as': headerText(as) }),
    ...(roles !== '' && { 'holdfast-roles': headerText(roles) }),
    ...(tenant !== '' && { 'holdfast-tenant': headerText(tenant) }),
  };
}

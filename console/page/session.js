/**
 * Who is logged in: the token, and in local development as whom to act.
 * Invariant: the token leaves the address at once, so that no link, history or screenshot carries it.
 */

const TOKEN = 'holdfast-token';
const ACTING = 'holdfast-acting';

/** @typedef {{ readonly as?: string, readonly roles?: string, readonly tenant?: string }} Acting */

/** Takes the token of `#token=…`, if there is one. */
export function takeToken() {
  const given = /^#token=([\x21-\x7e]{1,8192})$/.exec(location.hash)?.[1];
  if (given === undefined) return;
  keepToken(decodeURIComponent(given));
  history.replaceState(null, '', location.pathname + location.search);
}

/** @param {string} token */
export function keepToken(token) {
  forgetToken();
  placeOf(token).setItem(TOKEN, token);
}

/**
 * The token of a local console ends with its process, so other tabs may use it; any other one stays in its tab.
 * @param {string} token
 */
function placeOf(token) {
  return token.startsWith('hf_local_') ? localStorage : sessionStorage;
}

export function forgetToken() {
  sessionStorage.removeItem(TOKEN);
  localStorage.removeItem(TOKEN);
}

export function hasToken() {
  return tokenOf() !== null;
}

function tokenOf() {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN);
}

/** @returns {Acting} */
export function acting() {
  try {
    return /** @type {Acting} */ (JSON.parse(sessionStorage.getItem(ACTING) ?? '{}'));
  } catch {
    return {};
  }
}

/** @param {Acting} as */
export function actAs(as) {
  sessionStorage.setItem(ACTING, JSON.stringify(as));
}

/** @returns {Record<string, string>} */
export function loginHeaders() {
  const token = tokenOf();
  if (token === null) return {};
  const { as, roles, tenant } = token.startsWith('hf_local_') ? acting() : {};
  return {
    authorization: `Bearer ${token}`,
    ...(as !== undefined && as !== '' && { 'holdfast-as': as }),
    ...(roles !== undefined && roles !== '' && { 'holdfast-roles': roles }),
    ...(tenant !== undefined && tenant !== '' && { 'holdfast-tenant': tenant }),
  };
}

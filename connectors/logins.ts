/**
 * Logins of connectors, as operators make them.
 * Invariant: the server has been asked before the person is sent anywhere, so that the scopes are those that it wants.
 */
import { createConnectors } from './index.js';
import type { LoginStart } from './oauth/login.js';
import { beginLogin, loginServerOf, type OperatorPlace } from './oauth/operator.js';
import type { TokenRows } from './oauth/stored-authorization.js';

export { isAnswerOf, type LoginAnswer } from './oauth/login.js';
export {
  endLogin,
  logout,
  type LoggedIn,
  type LoggedOut,
  type OperatorPlace,
} from './oauth/operator.js';
export { loginReason } from './oauth/stored-authorization.js';
export { KEYS_VARIABLE } from './oauth/token-keys.js';

export interface LoginPlace extends OperatorPlace {
  readonly store: OperatorPlace['store'] & TokenRows;
}

/** Errors: `AuthError`, `InvalidConfig`, `InvalidRequest`. */
export async function openLogin(place: LoginPlace, redirectUrl: string): Promise<LoginStart> {
  const { connector, tenant, store } = place;
  const { name, connectTimeoutMs } = connector;
  loginServerOf(connector);
  const known = await store.connectorToken({ tenant, connector: name });
  if (known === undefined) {
    const connectors = createConnectors({
      connectors: new Map([[name, connector]]),
      tokens: store,
    });
    const signal = AbortSignal.timeout(2 * connectTimeoutMs);
    // What is wrong with the server shows in what follows.
    await connectors.list(name, signal, tenant).catch(() => undefined);
    await connectors.close();
  }
  return beginLogin(place, redirectUrl);
}

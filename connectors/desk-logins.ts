/**
 * Logins that one request begins and another one ends, with the person's browser in between.
 * Invariants: whoever began a login ends it, once and in time; what is secret of it lies encrypted in the store meanwhile.
 */
import type { Connector } from '../authoring/connectors.js';
import { isAuthorizationCode } from '../authoring/connector-auth.js';
import type { ConnectorTokens } from '../store/connector-tokens.js';
import { openLogin, type LoginPlace } from './logins.js';
import { stateDigest, type LoginAnswer, type PendingLogin } from './oauth/login.js';
import { endLogin, logout, type LoggedIn, type LoggedOut } from './oauth/operator.js';
import { open, readTokenKeys, seal } from './oauth/token-keys.js';

const LOGIN_MS = 10 * 60_000;

export interface LoginPerson {
  readonly tenant: string;
  readonly by: string;
}

export interface BegunLogin {
  /** Where the person goes. */
  readonly address: string;
  readonly issuer: string;
  readonly expiresAt: number;
}

/** Errors: those of logins; see `openLogin`. */
export interface DeskLogins {
  /** Connectors that people log in. */
  readonly names: readonly string[];
  begin(who: LoginPerson, connector: string, redirectUrl: string): Promise<BegunLogin>;
  /** Undefined: there is no such login of this person, or no more. */
  end(who: LoginPerson, answer: LoginAnswer): Promise<LoggedIn | undefined>;
  logout(who: LoginPerson, connector: string): Promise<LoggedOut>;
}

export interface DeskLoginsPlace {
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly store: LoginPlace['store'] &
    Pick<ConnectorTokens, 'keepConnectorLogin' | 'takeConnectorLogin'>;
  readonly clock: () => number;
}

export function deskLogins({ connectors, store, clock }: DeskLoginsPlace): DeskLogins {
  const placeOf = ({ tenant }: LoginPerson, name: string): LoginPlace => {
    const connector = connectors.get(name);
    if (connector === undefined) throw new Error(`There is no connector ${name}.`);
    return { connector, tenant, store, clock };
  };
  return {
    names: [...connectors.values()].filter(hasLogin).map(({ name }) => name),
    async begin(who, connector, redirectUrl) {
      const { address, issuer, pending } = await openLogin(placeOf(who, connector), redirectUrl);
      const id = stateDigest(pending.state);
      const text = seal(await readTokenKeys(), JSON.stringify(pending), aboutOf(who, id));
      const now = clock();
      const expiresAt = now + LOGIN_MS;
      await store.keepConnectorLogin({ ...who, connector, id, pending: text, expiresAt }, now);
      return { address, issuer, expiresAt };
    },
    async end(who, answer) {
      const id = stateDigest(answer.state ?? '');
      const taken = await store.takeConnectorLogin({ ...who, id }, clock());
      if (taken === undefined || !connectors.has(taken.connector)) return undefined;
      const text = open(await readTokenKeys(), taken.pending, aboutOf(who, id));
      const pending = JSON.parse(text) as PendingLogin;
      return endLogin(placeOf(who, taken.connector), pending, { answer, by: who.by });
    },
    logout: (who, connector) => logout(placeOf(who, connector), who.by),
  };
}

function hasLogin({ reached }: Connector): boolean {
  const auth = reached.kind === 'stdio' ? undefined : reached.auth;
  return auth !== undefined && isAuthorizationCode(auth);
}

function aboutOf({ tenant, by }: LoginPerson, id: string): string {
  return JSON.stringify(['holdfast connector login', 1, tenant, by, id]);
}

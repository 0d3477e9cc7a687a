/** Logins of connectors where the store is: this process keeps what is secret of one until its answer comes. */
import type { Connector } from '../../authoring/connectors.js';
import type { LoggedIn, LoggedOut, LoginAnswer, OperatorPlace } from '../../connectors/logins.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Store } from '../../store/store.js';

/** What a person does about the login of one connector, wherever it is kept. */
export interface Logins {
  readonly connector: string;
  /** Longest time that a login is kept for its answer, as `--timeout` says it; absent: as long as `--timeout` may be. */
  readonly longest?: string;
  begin(redirectUrl: string): Promise<BegunLogin>;
  logout(): Promise<LoggedOut>;
}

export interface BegunLogin {
  readonly address: string;
  readonly issuer: string;
  /** Whether an answer is of this login. */
  isOwn(answer: LoginAnswer): boolean;
  end(answer: LoginAnswer): Promise<LoggedIn>;
}

export interface LoginsPlace extends OperatorPlace {
  readonly store: Store;
}

export function loginsHere(place: LoginsPlace, by: string): Logins {
  return {
    connector: place.connector.name,
    async begin(redirectUrl) {
      const { endLogin, isAnswerOf, openLogin } = await import('../../connectors/logins.js');
      const { address, issuer, pending } = await openLogin(place, redirectUrl);
      return {
        address,
        issuer,
        isOwn: (answer) => isAnswerOf(pending, answer),
        end: (answer) => endLogin(place, pending, { answer, by }),
      };
    },
    async logout() {
      const { logout } = await import('../../connectors/logins.js');
      return logout(place, by);
    },
  };
}

/** Errors: InvalidRequest. */
export function knownConnector(
  connectors: ReadonlyMap<string, Connector>,
  name: string,
): Connector {
  const connector = connectors.get(name);
  if (connector !== undefined) return connector;
  const names = [...connectors.keys()];
  throw new HoldfastError(
    'InvalidRequest',
    `The configuration has no connector ${JSON.stringify(name.slice(0, 60))}.`,
    {
      hint: names.length === 0 ? 'Declare it in `mcp`.' : `The connectors are ${names.join(', ')}.`,
    },
  );
}

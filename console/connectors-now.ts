/**
 * What the servers of the configuration's connectors say of their tools, for people at the desk.
 * Invariants: however many people look, the servers of a tenant are asked by one look at a time; what was seen moments ago is
 * shown again, but after a login or its end; an approval looks anew.
 */
import type { DeskLogins } from '../connectors/desk-logins.js';
import type { Surveyed } from '../connectors/survey.js';

export type Look = (tenant: string, connector?: string) => Promise<readonly Surveyed[]>;

export interface KnownConnectors {
  readonly names: readonly string[];
  /** Reaches the servers. */
  readonly look: Look;
  /** Absent: nobody logs a connector in here. */
  readonly logins?: DeskLogins;
}

export interface ConnectorsNow {
  readonly names: readonly string[];
  readonly logins?: DeskLogins;
  all(tenant: string): Promise<readonly Surveyed[]>;
  anew(tenant: string, connector: string): Promise<Surveyed | undefined>;
}

const KEPT_MS = 5_000;
const TENANTS_KEPT_MAX = 100;

interface Kept {
  readonly at: number;
  readonly seen: Promise<readonly Surveyed[]>;
}

export function connectorsNow(
  { names, look, logins }: KnownConnectors,
  clock: () => number,
): ConnectorsNow {
  const kept = new Map<string, Kept>();
  return {
    names,
    ...(logins !== undefined && { logins: lookedAtAfter(logins, (tenant) => kept.delete(tenant)) }),
    all(tenant) {
      const known = kept.get(tenant);
      if (known !== undefined && clock() - known.at < KEPT_MS) return known.seen;
      const seen = look(tenant);
      kept.delete(tenant);
      kept.set(tenant, { at: clock(), seen });
      if (kept.size > TENANTS_KEPT_MAX) kept.delete(kept.keys().next().value ?? tenant);
      void seen.catch(() => kept.delete(tenant));
      return seen;
    },
    async anew(tenant, connector) {
      kept.delete(tenant);
      const [found] = await look(tenant, connector);
      return found;
    },
  };
}

/** What was seen before a login is not what is there after it. */
function lookedAtAfter(logins: DeskLogins, forget: (tenant: string) => void): DeskLogins {
  return {
    ...logins,
    end: (who, answer) => logins.end(who, answer).finally(() => forget(who.tenant)),
    logout: (who, connector) => logins.logout(who, connector).finally(() => forget(who.tenant)),
  };
}

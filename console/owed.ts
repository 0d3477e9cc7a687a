/**
 * Rows of the audit trail that could not be written before what they tell of, because the store was away.
 * Invariants: they are written in order and with their own times as soon as the store is back; a write that a store
 * leaves without an answer is begun anew only when it has failed; nothing is done on whose row there is no room; a
 * console that is killed before then takes them along.
 */
import { STORE_AWAY, unlessStoreAway } from '../client/index.js';
import type { AuditEntry } from '../pure/audit.js';
import { HoldfastError } from '../core/state/errors.js';
import type { DeskStore } from './desk-store.js';

const ROWS_MAX = 10_000;
/** Of these rows about refused access: whoever only looks must not take the room of those who act. */
const REFUSALS_MAX = 2_000;
const PAUSE_MS = 2_500;

export interface OwedRows {
  /** Writes them, or owes them while the store is away. Errors: StoreUnavailable when too many are owed. */
  write(tenant: string, entries: readonly AuditEntry[]): Promise<void>;
  /** One last try. */
  stop(): Promise<void>;
}

/** Rows that are written together. */
interface Owed {
  readonly tenant: string;
  readonly entries: readonly AuditEntry[];
  /** Of the write that has no answer yet. */
  underWay?: Promise<unknown> | undefined;
}

export function owedRows(
  store: Pick<DeskStore, 'appendAudit'>,
  say: (line: string) => void,
): OwedRows {
  let owed: readonly Owed[] = [];
  /** Those that are owed, and those whose first write has no answer yet. */
  const open = new Set<Owed>();
  let timer: NodeJS.Timeout | undefined;
  let paying: Promise<void> = Promise.resolve();

  async function pay(): Promise<void> {
    while (owed[0] !== undefined) {
      if ((await appended(store, owed[0])) === STORE_AWAY) return;
      open.delete(owed[0]);
      owed = owed.slice(1);
    }
    say('The store is back: rows of the audit trail that waited for it are written.');
  }
  function payLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      paying = pay().catch(() => undefined);
      void paying.then(() => owed.length > 0 && payLater());
    }, PAUSE_MS).unref();
  }
  const rows = (): readonly AuditEntry[] => [...open].flatMap(({ entries }) => entries);
  const isTooManyRefusals = (entries: readonly AuditEntry[]): boolean =>
    entries.every(isRefusal) && rows().filter(isRefusal).length >= REFUSALS_MAX;

  return {
    async write(tenant, entries) {
      if (rows().length + entries.length > ROWS_MAX || isTooManyRefusals(entries)) {
        throw new HoldfastError('StoreUnavailable', 'Too many rows of the audit trail wait.');
      }
      const wanted: Owed = { tenant, entries };
      open.add(wanted);
      if (owed.length === 0) {
        const written = await appended(store, wanted).catch((error: unknown) => {
          open.delete(wanted);
          throw error;
        });
        if (written !== STORE_AWAY) return void open.delete(wanted);
      }
      if (owed.length === 0) say('The store is away: rows of the audit trail wait for it.');
      owed = [...owed, wanted];
      payLater();
    },
    async stop() {
      clearTimeout(timer);
      await paying;
      if (owed.length > 0) await pay().catch(() => undefined);
      if (owed.length > 0) say(`${rows().length} rows of the audit trail could not be written.`);
    },
  };
}

/** A write that has no answer yet is not begun beside itself. */
function appended(store: Pick<DeskStore, 'appendAudit'>, wanted: Owed) {
  const { tenant, entries } = wanted;
  return unlessStoreAway(store, () => {
    wanted.underWay ??= store.appendAudit(tenant, entries).catch((error: unknown) => {
      wanted.underWay = undefined;
      throw error;
    });
    return wanted.underWay;
  });
}

function isRefusal({ kind }: AuditEntry): boolean {
  return kind === 'access_denied';
}

/**
 * Rows of the audit trail that could not be written before what they tell of, because the store was away.
 * Invariants: they are written in order and with their own times as soon as the store is back, but for those that it
 * refuses while it takes others; a write that a store leaves without an answer is begun anew only when it has failed,
 * and then says so; nothing is done on whose row there is no room; a console that is killed before then takes them along.
 */
import { STORE_AWAY, unlessStoreAway } from '../client/index.js';
import { plainLine } from '../client/read/plain-line.js';
import type { AuditEntry } from '../pure/audit.js';
import { HoldfastError } from '../core/state/errors.js';
import type { DeskStore } from './desk-store.js';

const ROWS_MAX = 10_000;
/** Of these rows about refused access: whoever only looks must not take the room of those who act. */
const REFUSALS_MAX = 2_000;
const PAUSE_MS = 2_500;
/** Rows that are refused one after the other, before the store itself is taken to be what is wrong. */
const UNWRITABLE_MAX = 20;
const TOLD_CHARS_MAX = 1_000;

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
  /** A write of them was begun. */
  sentBefore?: true;
  /** Of the write that has no answer yet. */
  underWay?: Promise<unknown> | undefined;
}

type AuditStore = Pick<DeskStore, 'appendAudit'>;
type Say = (line: string) => void;

export function owedRows(store: AuditStore, say: Say): OwedRows {
  const queue = new Queue(store, say);
  let timer: NodeJS.Timeout | undefined;
  let paying: Promise<void> = Promise.resolve();

  async function pay(): Promise<void> {
    while (queue.owed.length > 0) if (!(await queue.payOne())) return;
    say('The store is back: rows of the audit trail that waited for it are written.');
  }
  function payLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      paying = pay().catch(() => undefined);
      void paying.then(() => queue.owed.length > 0 && payLater());
    }, PAUSE_MS).unref();
  }
  const isTooManyRefusals = (entries: readonly AuditEntry[]): boolean =>
    entries.every(isRefusal) && queue.entries().filter(isRefusal).length >= REFUSALS_MAX;

  return {
    async write(tenant, entries) {
      if (queue.entries().length + entries.length > ROWS_MAX || isTooManyRefusals(entries)) {
        throw new HoldfastError('StoreUnavailable', 'Too many rows of the audit trail wait.');
      }
      const wanted: Owed = { tenant, entries };
      queue.open.add(wanted);
      if (queue.owed.length === 0) {
        const written = await appended(store, wanted).catch((error: unknown) => {
          queue.open.delete(wanted);
          throw error;
        });
        if (written !== STORE_AWAY) return void queue.open.delete(wanted);
      }
      if (queue.owed.length === 0) say('The store is away: rows of the audit trail wait for it.');
      queue.owed = [...queue.owed, wanted];
      payLater();
    },
    async stop() {
      clearTimeout(timer);
      await paying;
      if (queue.owed.length > 0) await pay().catch(() => undefined);
      if (queue.owed.length === 0) return;
      const count = queue.entries().length;
      say(`${count} rows of the audit trail could not be written, first ${heldBy(queue.owed[0]!)}`);
    },
  };
}

/**
 * What is owed, in the order in which it is written. `open`: with those whose first write has no answer yet; `payOne` writes
 * the first that the store takes, and leaves those before it out, or says false; `part`: a row takes no other along.
 */
class Queue {
  owed: readonly Owed[] = [];
  readonly open = new Set<Owed>();
  private leftOut = 0;

  constructor(
    private readonly store: AuditStore,
    private readonly say: Say,
  ) {}

  entries(): readonly AuditEntry[] {
    return [...this.open].flatMap(({ entries }) => entries);
  }

  async payOne(): Promise<boolean> {
    const refused: string[] = [];
    while (refused.length < UNWRITABLE_MAX) {
      const next = this.owed[refused.length];
      const answer = next && (await appended(this.store, next).catch(codeOf));
      if (next === undefined || answer === STORE_AWAY) break;
      if (answer === undefined) {
        for (const code of refused) this.leaveOut(code);
        this.owed = this.owed.slice(1);
        return this.open.delete(next);
      }
      if (next.entries.length > 1) this.part(next);
      else refused.push(answer);
    }
    return false;
  }

  private part(group: Owed): void {
    const parts = group.entries.map((entry): Owed => ({ ...group, entries: [entry] }));
    this.owed = this.owed.flatMap((one) => (one === group ? parts : [one]));
    this.open.delete(group);
    for (const one of parts) this.open.add(one);
  }

  private leaveOut(code: string): void {
    const [row, ...rest] = this.owed;
    this.owed = rest;
    this.open.delete(row!);
    this.leftOut += 1;
    this.say(
      `The store refuses a row of the audit trail (${code}), which is left out (${this.leftOut} so far): ${heldBy(row!)}`,
    );
  }
}

function heldBy({ tenant, entries }: Owed): string {
  return plainLine(JSON.stringify({ tenant, rows: entries }), TOLD_CHARS_MAX);
}

function codeOf(error: unknown): string {
  return error instanceof HoldfastError ? error.code : 'Internal';
}

/** A write that has no answer yet is not begun beside itself. Errors: any but StoreUnavailable. */
async function appended(store: AuditStore, wanted: Owed): Promise<typeof STORE_AWAY | undefined> {
  const answer = await unlessStoreAway(store, () => {
    wanted.underWay ??= begun(store, wanted).catch((error: unknown) => {
      wanted.underWay = undefined;
      throw error;
    });
    return wanted.underWay;
  });
  return answer === STORE_AWAY ? answer : undefined;
}

/** Of one whose answer was lost the store finds out whether it has the rows. */
function begun(store: AuditStore, wanted: Owed): Promise<void> {
  const { tenant, entries, sentBefore } = wanted;
  wanted.sentBefore = true;
  if (sentBefore === undefined) return store.appendAudit(tenant, entries);
  return store.appendAudit(
    tenant,
    entries.map((entry) => ({ ...entry, sentBefore })),
  );
}

function isRefusal({ kind }: AuditEntry): boolean {
  return kind === 'access_denied';
}

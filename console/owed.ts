/**
 * Rows of the audit trail that could not be written before what they tell of, because the store was away.
 * Invariants: they are written one by one, in the order in which they were owed and with their own times, as soon as the
 * store is back, but for those that it cannot hold; a write that a store leaves without an answer is begun anew only when
 * it has failed, and then says so; nothing is done on whose row there is no room; a console that is killed before then
 * takes them along.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { STORE_AWAY, unlessStoreAway } from '../client/index.js';
import { plainLine } from '../client/read/plain-line.js';
import type { AuditEntry } from '../pure/audit.js';
import { plural } from '../pure/plural.js';
import { HoldfastError } from '../core/state/errors.js';
import type { DeskStore } from './desk-store.js';

const ROWS_MAX = 10_000;
/** Of these rows about refused access: whoever only looks must not take the room of those who act. */
const REFUSALS_MAX = 2_000;
const PAUSE_MS = 2_500;
/** A deed waits so long for the rows before its own, ms. */
const TURN_MS_MAX = 5_000;
/** Rows left out that are told with what they held; of others only the count. */
const LEFT_OUT_TOLD_MAX = 20;
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
  /** The store was given its time for a write of them, and the next payment has not found otherwise. */
  isSilent?: boolean;
}

type AuditStore = Pick<DeskStore, 'appendAudit'>;
type Say = (line: string) => void;

export function owedRows(store: AuditStore, say: Say): OwedRows {
  const queue = new Queue(store, say);
  let timer: NodeJS.Timeout | undefined;
  let paying: Promise<void> | undefined;
  let hasEnded = false;

  /** One payment at a time: who asks for another has the one that is under way. */
  function pay(): Promise<void> {
    paying ??= queue
      .payAll()
      .catch(() => undefined)
      .finally(() => {
        paying = undefined;
        payLater();
      });
    return paying;
  }
  function payLater(): void {
    if (hasEnded || paying !== undefined || queue.owed.size === 0) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void pay();
    }, PAUSE_MS).unref();
  }
  /** Whether it is written: rows that are owed come first. */
  async function isWritten(wanted: Owed): Promise<boolean> {
    const [first] = queue.owed;
    // No deed waits for a write that the store has left without an answer.
    if (first?.isSilent) return false;
    if (first !== undefined) {
      await Promise.race([pay(), sleep(TURN_MS_MAX, undefined, { ref: false })]);
    }
    return queue.owed.size === 0 && (await appended(store, wanted)) !== STORE_AWAY;
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
      const written = await isWritten(wanted).catch((error: unknown) => {
        queue.open.delete(wanted);
        throw error;
      });
      if (written) return void queue.open.delete(wanted);
      if (queue.owed.size === 0) say('The store is away: rows of the audit trail wait for it.');
      queue.owed.add(wanted);
      payLater();
    },
    async stop() {
      hasEnded = true;
      clearTimeout(timer);
      await paying;
      if (queue.owed.size > 0) await pay();
      if (queue.owed.size > 0) say(unwritten(queue));
    },
  };
}

function unwritten(queue: Queue): string {
  const [first] = queue.owed;
  const rows = plural(queue.entries().length, 'row');
  return `${rows} of the audit trail could not be written, first ${first && heldBy(first)}`;
}

/**
 * What is owed, in the order in which it is written. `open`: with those whose first write has no answer yet; `payAll` writes
 * all until the store takes no more now; `part`: a row takes no other along.
 */
class Queue {
  owed = new Set<Owed>();
  readonly open = new Set<Owed>();
  private leftOut = 0;
  private lastFailure = '';

  constructor(
    private readonly store: AuditStore,
    private readonly say: Say,
  ) {}

  entries(): readonly AuditEntry[] {
    return [...this.open].flatMap(({ entries }) => entries);
  }

  async payAll(): Promise<void> {
    if (this.owed.size === 0) return;
    const before = this.leftOut;
    let goesOn = true;
    for (let [next] = this.owed; next !== undefined && goesOn; [next] = this.owed) {
      goesOn = await this.isPaid(next);
    }
    if (this.leftOut > Math.max(before, LEFT_OUT_TOLD_MAX)) {
      this.say(
        `Rows of the audit trail that the store refused and that are left out: ${this.leftOut} so far.`,
      );
    }
    if (!goesOn) return;
    this.lastFailure = '';
    this.say('The store is back: rows of the audit trail that waited for it are written.');
  }

  /** Or left out; false: not now. */
  private async isPaid(next: Owed): Promise<boolean> {
    try {
      if ((await appended(this.store, next)) === STORE_AWAY) return false;
      this.remove(next);
    } catch (error) {
      const code = error instanceof HoldfastError ? error.code : 'Internal';
      if (code !== CANNOT_BE_HELD) return this.sayFailure(code);
      if (next.entries.length > 1) this.part(next);
      else this.leaveOut(next);
    }
    return true;
  }

  private remove(one: Owed): void {
    this.owed.delete(one);
    this.open.delete(one);
  }

  /** The first of those that are owed. */
  private part(group: Owed): void {
    this.remove(group);
    const parts = group.entries.map((entry): Owed => ({ ...group, entries: [entry] }));
    this.owed = new Set([...parts, ...this.owed]);
    for (const one of parts) this.open.add(one);
  }

  private leaveOut(row: Owed): void {
    this.remove(row);
    this.leftOut += 1;
    if (this.leftOut > LEFT_OUT_TOLD_MAX) return;
    this.say(
      `The store refuses a row of the audit trail (${CANNOT_BE_HELD}), which is left out (${this.leftOut} so far): ${heldBy(row)}`,
    );
  }

  private sayFailure(code: string): false {
    if (this.lastFailure !== code) {
      this.say(`The store fails (${code}): rows of the audit trail wait for it.`);
    }
    this.lastFailure = code;
    return false;
  }
}

/** What a store says of a value that it can never hold. Every other failure may pass. */
const CANNOT_BE_HELD = 'InvalidRequest';

function heldBy({ tenant, entries }: Owed): string {
  return plainLine(JSON.stringify({ tenant, rows: entries }), TOLD_CHARS_MAX);
}

/** A write that has no answer yet is not begun beside itself. Errors: any but StoreUnavailable. */
async function appended(store: AuditStore, wanted: Owed): Promise<typeof STORE_AWAY | undefined> {
  const answer = await unlessStoreAway(store, () => {
    wanted.underWay ??= begun(store, wanted).catch((error: unknown) => {
      wanted.underWay = undefined;
      wanted.isSilent = false;
      throw error;
    });
    return wanted.underWay;
  });
  if (answer !== STORE_AWAY) return undefined;
  wanted.isSilent = wanted.underWay !== undefined;
  return answer;
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

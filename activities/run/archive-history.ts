/**
 * Keeps the history of the segment that continue-as-new has closed: Temporal's retention will delete it.
 * Invariants: what is still to be archived is in the store before the first try, so that workers go on with it
 * beside the run, also after a restart; a run waits for one try and fails over none; a history is lost when the
 * server says so twice in a row.
 */
import type { OpenRunInput } from '../../core/state/effect.js';
import type { Archival, ArchivalFate, ArchivalName } from '../../store/archivals.js';
import type { StoreCalls } from '../../store/store.js';
import { now, type InTransaction } from '../deps.js';
import type { FetchedHistory } from '../fetch-history.js';
import type { Scope } from '../scope.js';

/** How long a worker has an archival for itself: longer than it takes to fetch and store a history. */
const CLAIM_MS = 60_000;
const FIRST_PAUSE_MS = 5_000;
const PAUSE_MS_MAX = 3_600_000;
const GROWTH = 3;
const REASON_CHARS_MAX = 200;
/** The gRPC status of what is not there. */
const NOT_FOUND = 5;

export interface Archiver {
  readonly store: Pick<
    StoreCalls,
    'openArchival' | 'claimArchival' | 'settleArchival' | 'archiveHistory'
  >;
  readonly clock: () => number;
  readonly fetchHistory: (runId: string, execution: string) => Promise<FetchedHistory>;
  /** Whoever operates the worker is told. */
  readonly tell: (line: string, facts: { readonly [name: string]: string }) => void;
}

export async function archiveSegment(
  deps: InTransaction,
  scope: Scope,
  input: Pick<OpenRunInput, 'run' | 'segment' | 'previousExecution'>,
): Promise<void> {
  const { run, segment, previousExecution: execution } = input;
  if (execution === undefined || segment === 0) return;
  const { tenant, runId } = run;
  const name = { tenant, runId, segment: segment - 1, execution };
  const clock = (): number => now(deps);
  await deps.store.openArchival({ ...name, namespace: scope.namespace }, clock());
  const { fetchHistory, error: tell } = scope;
  await tryArchival({ store: deps.store, clock, fetchHistory, tell }, name);
}

/** Undefined: it is not due, another worker has it, or there is none any more. */
export async function tryArchival(
  archiver: Archiver,
  name: ArchivalName,
): Promise<ArchivalFate['state'] | undefined> {
  const { store, clock } = archiver;
  const at = clock();
  const claimed = await store.claimArchival(name, { at, until: at + CLAIM_MS });
  if (claimed === undefined) return undefined;
  const fate = await fateOf(archiver, claimed);
  const counts = await store.settleArchival(claimed, fate);
  if (counts) remark(archiver, claimed, fate);
  return fate.state;
}

async function fateOf(archiver: Archiver, claimed: Archival): Promise<ArchivalFate> {
  const { store, clock } = archiver;
  const { tenant, runId, segment, execution, namespace, tries } = claimed;
  try {
    const { json, continuedFrom } = await archiver.fetchHistory(runId, execution);
    await store.archiveHistory({ tenant, runId, segment, execution, history: json });
    // One before it that nobody has noted: the store was away, or an older release has given it up.
    if (segment > 0 && continuedFrom !== undefined) {
      const before = { tenant, runId, segment: segment - 1, execution: continuedFrom, namespace };
      await store.openArchival(before, clock());
    }
    return { state: 'archived' };
  } catch (error) {
    const fault = reasonOf(error);
    // A server that has just closed a segment may not have it yet: what counts is that it says so twice in a row.
    if (isGone(error) && claimed.fault === fault) {
      return { state: 'history_lost', fault, at: clock() };
    }
    return { state: 'waiting', fault, nextAt: clock() + pauseMs(tries) };
  }
}

/** Once when it begins to fail, and once when it is over. */
function remark({ tell }: Archiver, claimed: Archival, fate: ArchivalFate): void {
  const { runId, segment, execution, tries, namespace } = claimed;
  const facts = { runId, execution };
  if (fate.state === 'history_lost') {
    tell(
      `history_lost: Temporal has deleted the history of segment ${segment} before it was archived (${fate.fault}). The run cannot be exported or replayed; raise the retention of namespace ${namespace}, and see holdfast doctor.`,
      facts,
    );
  } else if (fate.state === 'waiting' && tries === 1) {
    tell(
      `The history of segment ${segment} is not archived yet: ${fate.fault}. The worker tries again until Temporal's retention deletes the history. Mend the fault; holdfast doctor lists the segments that are left.`,
      facts,
    );
  }
}

/** Threefold each time, without an end: the rows tell for how long. */
function pauseMs(tries: number): number {
  return Math.min(FIRST_PAUSE_MS * GROWTH ** (tries - 1), PAUSE_MS_MAX);
}

/** The server knows the namespace, but not this execution. */
function isGone(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  return code === NOT_FOUND && !/\bnamespace\b/i.test(message ?? '');
}

/** On one line, and harmless where it is shown. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/[\s\p{C}]+/gu, ' ').slice(0, REASON_CHARS_MAX);
}

/** What a goal remembers, from the store: plan, published state, measurements, reviews, cycles, briefs. */
import type { RunEvent } from '../../core/state/event.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ChildRecord, GoalMemory, ReviewRecord } from '../../core/state/goal/memory.js';
import type { GoalOutcome, RunResult } from '../../core/state/result.js';
import { storeOf, type Link } from '../link.js';
import { readGoalState } from './goal-state.js';
import { isUnknown, noSuchGoal } from './tell-goal.js';

/** A run's result, with what the goal remembers; without a store `reviews` is empty, and the rest of it absent. */
export interface GoalResult extends Omit<RunResult, 'goal'> {
  readonly goal?: Omit<GoalOutcome, 'reviews'> &
    Partial<GoalRecord> & {
      /** The last ones. */
      readonly reviews: readonly ReviewRecord[];
      readonly reviewCount: number;
    };
}

export interface GoalRecord extends Pick<
  GoalMemory,
  'plan' | 'state' | 'measurements' | 'reviews' | 'log' | 'notes'
> {
  /** The last ones. */
  readonly childRuns: readonly ChildRecord[];
}

/** A stored brief: what the agent of a cycle was told, and what was quoted to it as data. */
export interface GoalBrief {
  readonly n: number;
  readonly runId: string;
  readonly agent: string;
  /** Of the brief in the store. */
  readonly hash: string;
  /** Estimated. */
  readonly tokens: number;
  /** Estimated, by section. */
  readonly sections: { readonly [section: string]: number };
  readonly task: string;
  readonly context: readonly {
    readonly origin: string;
    readonly cycle: number;
    readonly by: string;
    readonly text: string;
  }[];
}

const STATE_LIMIT_MS = 2_500;
const PAGE_EVENTS = 500;

export async function withRecord(link: Link, { goal, ...result }: RunResult): Promise<GoalResult> {
  if (goal === undefined) return result;
  const { reviews: reviewCount, ...outcome } = goal;
  const memory =
    goal.memory === undefined ? undefined : await memoryAt(link, goal.memory).catch(notStored);
  const record = memory === undefined ? { reviews: [] } : recordOf(memory);
  return { ...result, goal: { ...outcome, ...record, reviewCount } };
}

/** The result counts without what the store would add to it. */
function notStored(error: unknown): undefined {
  if (error instanceof HoldfastError) return undefined;
  throw error;
}

/** The newest that is stored. Errors: StoreUnavailable, RunNotFound; TranscriptMissing when the store has lost it. */
export async function recordOfGoal(link: Link, goalId: string): Promise<GoalRecord> {
  const hash = await newestMemory(link, goalId);
  const memory = hash === undefined ? undefined : await memoryAt(link, hash);
  if (memory !== undefined) return recordOf(memory);
  throw new HoldfastError(
    'TranscriptMissing',
    `The store does not have what goal ${goalId} remembers.`,
    {
      hint: 'Name the store of the workers with HOLDFAST_STORE; a goal that has just begun remembers nothing yet.',
      details: { runId: goalId },
    },
  );
}

/** Of the cycle `n`; default: the newest. Errors: RunNotFound, StoreUnavailable, TranscriptMissing. */
export async function briefOfGoal(link: Link, goalId: string, n?: number): Promise<GoalBrief> {
  await refuseUnknown(link, goalId);
  let found: Extract<RunEvent, { type: 'cycle_started' }> | undefined;
  for await (const event of storedEvents(link, goalId)) {
    if (event.type === 'cycle_started' && (n === undefined || event.n === n)) found = event;
  }
  if (found === undefined) {
    const which = n === undefined ? 'no cycle' : `no cycle ${n}`;
    throw new HoldfastError('TranscriptMissing', `Goal ${goalId} has begun ${which} yet.`, {
      hint: `See its cycles with \`holdfast goal show ${goalId}\`.`,
      details: { runId: goalId },
    });
  }
  const { runId, agent, brief: hash, briefTokens } = found;
  const text = await storeOf(link).getBlob(link.tenant, hash);
  if (text === undefined) {
    throw new HoldfastError('TranscriptMissing', `The store does not have the brief ${hash}.`, {
      hint: 'Name the store of the workers with HOLDFAST_STORE.',
      details: { runId: goalId },
    });
  }
  const stored = JSON.parse(text) as StoredBrief;
  return {
    n: found.n,
    runId,
    agent,
    hash,
    tokens: stored.tokens ?? briefTokens,
    sections: stored.sections ?? {},
    task: stored.task?.goal ?? '',
    context: stored.context ?? [],
  };
}

interface StoredBrief {
  readonly task?: { readonly goal?: string };
  readonly context?: GoalBrief['context'];
  readonly sections?: GoalBrief['sections'];
  readonly tokens?: number;
}

function recordOf({
  children,
  plan,
  state,
  measurements,
  reviews,
  log,
  notes,
}: GoalMemory): GoalRecord {
  return { plan, state, measurements, reviews, log, notes, childRuns: children };
}

async function memoryAt({ store, tenant }: Link, hash: string): Promise<GoalMemory | undefined> {
  const text = await store?.getBlob(tenant, hash);
  return text === undefined ? undefined : (JSON.parse(text) as GoalMemory);
}

/** Of a goal that has ended its result says it; of another the goal itself, else its newest event that names one. */
async function newestMemory(link: Link, goalId: string): Promise<string | undefined> {
  const row = await refuseUnknown(link, goalId);
  if (row?.result !== undefined) return row.result.goal?.memory;
  const view = await readGoalState(link, goalId, STATE_LIMIT_MS).catch((error: unknown) => {
    if (row === undefined && isUnknown(error)) throw noSuchGoal(goalId);
    return undefined;
  });
  if (view?.memory !== undefined) return view.memory;
  let newest: string | undefined;
  for await (const event of storedEvents(link, goalId)) {
    if (event.type === 'plan_changed') newest = event.memory;
    if (event.type === 'checkpoint_saved') newest = (await memoryOf(link, event.id)) ?? newest;
  }
  return newest;
}

/** A checkpoint names the memory that it is of. */
async function memoryOf({ store, tenant }: Link, checkpoint: string): Promise<string | undefined> {
  const text = await store?.getBlob(tenant, checkpoint);
  const { memory } = (text === undefined ? {} : JSON.parse(text)) as { readonly memory?: unknown };
  return typeof memory === 'string' ? memory : undefined;
}

async function refuseUnknown(link: Link, goalId: string) {
  const row = await storeOf(link).getRun(link.tenant, goalId);
  if (row === undefined || row.kind === 'goal') return row;
  throw new HoldfastError('RunNotFound', `${goalId} is a run, and no goal.`, {
    hint: 'List the goals with `holdfast goal list`.',
    details: { runId: goalId },
  });
}

async function* storedEvents(
  link: Link,
  goalId: string,
): AsyncGenerator<RunEvent, void, undefined> {
  const name = { tenant: link.tenant, runId: goalId };
  let sinceSeq = 0;
  for (;;) {
    const page = await storeOf(link).readEvents(name, { sinceSeq, limit: PAGE_EVENTS });
    yield* page.events;
    if (page.events.length === 0) return;
    sinceSeq = page.nextSeq;
  }
}

/**
 * Starting a fork of a recorded goal: a goal that goes on from a checkpoint of the other one, and counts as its fork, so that
 * its cycles ask before they do again what any run of the other goal did.
 * Invariant: the row is written before the goal is started; nothing of the recorded goal is written.
 */
import type { KnownFields } from '../../authoring/known-fields.js';
import { normalGoal } from '../../authoring/goal/normal-goal.js';
import { digestOf } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalBudget, Pace, StoredDefinition } from '../../core/state/goal/definition.js';
import type { RecordedCallRow } from '../../store/forks.js';
import type { StoreCalls } from '../../store/store.js';
import { checkNames } from '../closed-options.js';
import type { Link } from '../link.js';
import { writeForkRow, type ForkRows } from '../runs/fork-row.js';
import { refuseBesideOlder } from '../runs/refuse-older.js';
import { checkGoalId } from './check-goal.js';
import { checkedGoalMessage } from './goal-message.js';
import { asWritten } from './known-goal.js';
import { startGoal } from './start-goal.js';
import { tellGoal } from './tell-goal.js';

export interface GoalForkOptions {
  /** The recorded goal, which the store knows. */
  readonly goalId: string;
  /** Step of the record; for people. */
  readonly step: number;
  /** Hashes in the store. */
  readonly checkpoint: string;
  readonly definition: string;
  readonly agent: string;
  readonly pace: Pace;
  readonly budget: GoalBudget;
  readonly store: ForkRows & Pick<StoreCalls, 'getBlob'>;
  /** What the record of the goal and of all runs below it gave to executors. */
  readonly calls?: readonly RecordedCallRow[];
  /** Of the fork; default: a new id. */
  readonly forkId?: string;
  /** Who starts it: decides nothing in it. */
  readonly caller?: string;
  /** Said to the fork as soon as it is open. */
  readonly message?: string;
}

const OPTIONS: KnownFields<GoalForkOptions> = {
  goalId: true,
  step: true,
  checkpoint: true,
  definition: true,
  agent: true,
  pace: true,
  budget: true,
  store: true,
  calls: true,
  forkId: true,
  caller: true,
  message: true,
};

/**
 * Gives its id. Errors: TranscriptMissing, ForkRefused, RunExists, and those of starting and steering a goal; MessageRefused with the
 * reason `goal_ended` and the new goal as `runId` when it had ended before the message came.
 */
export async function forkGoal(link: Link, options: GoalForkOptions): Promise<string> {
  checkNames(options, OPTIONS, {});
  const { goalId, step, checkpoint, agent, pace, budget, store, calls, caller, message } = options;
  const { tenant } = link;
  const said = message === undefined ? undefined : ({ type: 'steer', text: message } as const);
  const by = caller ?? 'unknown';
  // Words that no goal takes start none.
  if (said !== undefined) {
    checkedGoalMessage({ v: 1, id: goalId, by, roles: [], at: Date.now(), ...said });
  }
  const text = await store.getBlob(tenant, options.definition);
  if (text === undefined) {
    throw new HoldfastError(
      'TranscriptMissing',
      `The store has lost the definition of ${goalId.slice(0, 200)}.`,
      { hint: 'Name the store of the workers with HOLDFAST_STORE.', details: { runId: goalId } },
    );
  }
  const written = asWritten(JSON.parse(text) as StoredDefinition);
  const definition = normalGoal({ ...written, agent, pace, budget }, `Goal ${goalId}`);
  const forkId = checkGoalId(options.forkId);
  await refuseBesideOlder(link, store);
  await writeForkRow(link, store, {
    tenant,
    runId: forkId,
    parent: goalId,
    step,
    body: JSON.stringify({ goal: goalId, checkpoint, message }),
    at: Date.now(),
    ...(calls !== undefined && { calls }),
    isGivenId: options.forkId !== undefined,
  });
  const who = caller !== undefined && { caller };
  const from = { goalId, checkpoint };
  await startGoal(link, { goalId: forkId, definition, from, ...who });
  if (said !== undefined) {
    // Said once, however often the fork is asked for under its id.
    const id = digestOf([forkId, said.text]);
    const who = { id, ...(caller !== undefined && { by: caller }) };
    await tellGoal(link, { goalId: forkId, said, who }).catch((error: unknown) => {
      throw startedUntold(forkId, error);
    });
  }
  return forkId;
}

/** The goal is there whatever becomes of the message, so its id is said. */
function startedUntold(goalId: string, error: unknown): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const { code, message, hint, details } = error;
  // A server says of one that has just ended, now and then, that there is none.
  const hasEnded = code === 'RunNotFound' || details?.['reason'] === 'goal_ended';
  if (!hasEnded) {
    return new HoldfastError(code, `The goal ${goalId} was started, but not told: ${message}`, {
      ...(hint !== undefined && { hint }),
      details: { ...details, runId: goalId },
      cause: error,
    });
  }
  return new HoldfastError(
    'MessageRefused',
    `The goal ${goalId} was started and has ended, so the message did not reach it now.`,
    {
      hint: `See how it ended with \`holdfast goal show ${goalId}\`.`,
      details: { reason: 'goal_ended', runId: goalId },
    },
  );
}

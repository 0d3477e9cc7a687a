/**
 * A pass: what the goal finds out behind the baseline, a cycle, a person's answer or a wanted review. Validate, progress,
 * judges, the row that would end the goal, a review, rows once more, a checkpoint.
 * Invariants: nothing of a pass decides an ending by itself: it is decided at rest (rest.ts), behind the checkpoint;
 * at most one review a pass; at most CHECKS_AT_ONCE checks at once.
 */
import type { Failure } from '../state/failure.js';
import type { Judgement, ProgressItem } from '../state/goal/facts.js';
import type { ActivityEffect } from '../state/effect.js';
import type { ClosedCycle, Goal, OpenGoal, Pass } from '../state/goal/goal.js';
import type { SaveCheckpointOutput } from '../state/goal/payloads.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { flying, only, start } from '../step/inflight.js';
import { conditionWords, judgesToAsk } from './conditions.js';
import { askJudge, unpaid } from './question.js';
import { firstRow } from './rows.js';
import { review, UNKNOWNS_MAX } from './review.js';
import { GOAL_STORE_LIMITS, ofOpenGoal, tell } from './telling.js';

export function beginPass(
  goal: OpenGoal,
  reason: Pass['reason'],
  cycle: { readonly progress?: readonly ProgressItem[]; readonly closed?: ClosedCycle } = {},
): OpenGoal {
  const passes = goal.passes + 1;
  // What is found out now stands in no brief that people were shown.
  const isNews =
    goal.draft !== undefined || goal.proposed.approved !== undefined || isDrafting(goal);
  const pass: Pass = {
    reason,
    step: 'validate',
    toCheck: goal.terms.checks.map(({ name }) => name),
    checking: {},
    reviewed: false,
    askedMicroUsd: 0,
    progress: cycle.progress ?? [],
    ...(cycle.closed !== undefined && { closed: cycle.closed }),
  };
  return {
    ...goal,
    passes,
    pass,
    judgements: withoutUnknown(goal),
    tally: { ...goal.tally, turnCount: passes },
    ...(isNews && { approvalStale: true }),
  };
}

/** What a judge did not answer is asked anew, until a person is asked in its place; a score without evidence is an answer. */
function withoutUnknown(goal: OpenGoal): OpenGoal['judgements'] {
  if (!follows(goal, 'unknownsAskedAgain')) return goal.judgements;
  const isAnswered = ([condition, judgement]: readonly [string, Judgement]): boolean => {
    if (judgement.valid || judgement.score !== undefined || judgement.by !== undefined) return true;
    const term = goal.terms.done.conditions[Number(condition)];
    return term?.kind === 'judge' && (goal.unknowns[`judge:${term.name}`] ?? 0) >= UNKNOWNS_MAX;
  };
  return Object.fromEntries(Object.entries(goal.judgements).filter(isAnswered));
}

function isDrafting(goal: OpenGoal): boolean {
  return follows(goal, 'approvedBrief') && flying(goal, ['prepare_cycle']);
}

/** Rule: what the cycle brought is counted, and told. */
export function countProgress(goal: OpenGoal): Ruling<OpenGoal> {
  const pass = passAt(goal, 'progress');
  if (pass === undefined) return undefined;
  const next = goTo(goal, pass, 'judge');
  const { closed } = pass;
  if (closed === undefined) return only(next);
  const { stopReason, detail, costMicroUsd, n, runId, unconfirmed } = closed;
  const progress = countedOf(goal, pass.progress);
  const counted = withStreak(next, progress);
  const ended = tell(counted, {
    type: 'cycle_ended',
    n,
    runId,
    stopReason,
    ...(detail !== undefined && { detail }),
    costMicroUsd,
    progress,
    ...(unconfirmed && { unconfirmed }),
  });
  return only(progress.length === 0 ? ended : tell(ended, { type: 'progress_noted', n, progress }));
}

/** Where a measure exists, cycles with only other kinds count as progress a bounded number of times in a row. */
function countedOf(goal: OpenGoal, progress: readonly ProgressItem[]): readonly ProgressItem[] {
  const measured = goal.terms.checks.some(({ better }) => better !== undefined);
  if (!measured || progress.some(({ kind }) => kind === 'measure')) return progress;
  return goal.streaks.noMeasure >= goal.terms.stopRules.noMeasureCycles ? [] : progress;
}

function withStreak(goal: OpenGoal, progress: readonly ProgressItem[]): OpenGoal {
  const { streaks } = goal;
  const measure = progress.some(({ kind }) => kind === 'measure');
  const some = progress.length > 0;
  return {
    ...goal,
    streaks: {
      ...streaks,
      noProgress: some ? 0 : streaks.noProgress + 1,
      noMeasure: measure ? 0 : streaks.noMeasure + (some ? 1 : 0),
      progressed: streaks.progressed + (some ? 1 : 0),
    },
  };
}

/** Rule: judges, one after the other, when it is their time. */
export function judge(goal: OpenGoal): Ruling<OpenGoal> {
  const pass = passAt(goal, 'judge');
  if (pass === undefined) return undefined;
  if (pass.asking !== undefined) return 'hold';
  const conditions = judgesToAsk(goal);
  const asking = follows(goal, 'unpaidJudges') ? conditions : conditions.slice(0, 1);
  for (const condition of asking) {
    const asked = askJudge(goal, pass, condition);
    if (asked !== undefined) return asked;
  }
  const told = asking.reduce<OpenGoal>(
    (next, condition) => unpaid(next, conditionWords(goal.terms.done.conditions[condition]!)),
    goal,
  );
  return only(goTo(told, pass, 'note'));
}

/** Rule: the row that would end the goal. */
export function noteRow(goal: OpenGoal): Ruling<OpenGoal> {
  const pass = passAt(goal, 'note');
  return pass === undefined ? undefined : only(withRow(goal, pass, 'review'));
}

/** Rule: at most one review. */
export function reviewing(goal: OpenGoal): Ruling<OpenGoal> {
  const pass = passAt(goal, 'review');
  if (pass === undefined) return undefined;
  if (pass.asking !== undefined) return 'hold';
  return review(goal, pass) ?? only(goTo(goal, pass, 'rows'));
}

/** Rule: rows once more, behind what the review said. */
export function rowsAgain(goal: OpenGoal): Ruling<OpenGoal> {
  const pass = passAt(goal, 'rows');
  return pass === undefined ? undefined : only(withRow(goal, pass, 'checkpoint'));
}

/** Rule: the memory with all that was found, and every event of the pass. */
export function saveCheckpoint(goal: OpenGoal): Ruling<OpenGoal> {
  const pass = passAt(goal, 'checkpoint');
  if (pass === undefined) return undefined;
  if (pass.saving !== undefined) return 'hold';
  const id = `save_checkpoint-${goal.nextEffect}`;
  const { closed, review: reviewed } = pass;
  const saving: OpenGoal = { ...goal, pass: { ...pass, saving: id } };
  return start(saving, 'save_checkpoint', (_, events): ActivityEffect => ({
    kind: 'save_checkpoint',
    id,
    input: {
      ...ofOpenGoal(goal),
      n: goal.checkpoints + 1,
      cycle: goal.cycles,
      at: goal.now,
      checks: goal.checks,
      progress: pass.progress,
      ...(closed !== undefined && { child: closed }),
      ...(reviewed !== undefined && { review: reviewed }),
      ...(goal.proposed.plan !== undefined && { held: goal.proposed.plan.memory }),
      facts: {
        spentMicroUsd: goal.money.spentMicroUsd,
        cycles: goal.cycles,
        reviews: goal.reviews,
      },
      events,
    },
    limits: GOAL_STORE_LIMITS,
    summary: `checkpoint ${goal.checkpoints + 1}`,
  }));
}

export function checkpointSaved(
  goal: OpenGoal,
  { checkpoint, memory, held }: Pick<SaveCheckpointOutput, 'checkpoint' | 'memory' | 'held'>,
): OpenGoal {
  const { pass: _, ...rest } = goal;
  const checkpoints = goal.checkpoints + 1;
  const { plan } = goal.proposed;
  // A plan that waits for a person goes on from what is remembered now.
  const proposed =
    plan === undefined || held === undefined
      ? goal.proposed
      : { ...goal.proposed, plan: { ...plan, memory: held } };
  const saved: OpenGoal = { ...rest, checkpoints, checkpoint, memory, proposed, passed: true };
  return tell(saved, { type: 'checkpoint_saved', id: checkpoint, n: checkpoints });
}

/** A checkpoint that cannot be stored for good ends the goal: nothing of it would be kept. */
export function checkpointNotSaved(goal: OpenGoal, { code }: Failure): OpenGoal {
  const { pass: _, ...rest } = goal;
  const row = { row: 'failure', reason: 'failed', detail: `checkpoint: ${code}` } as const;
  return { ...rest, ending: goal.ending ?? row };
}

export function passAt({ pass }: Goal, step: Pass['step']): Pass | undefined {
  return pass?.step === step ? pass : undefined;
}

export function goTo(goal: OpenGoal, pass: Pass, step: Pass['step']): OpenGoal {
  return { ...goal, pass: { ...pass, step } };
}

function withRow(goal: OpenGoal, pass: Pass, step: Pass['step']): OpenGoal {
  const { row: _, ...rest } = pass;
  const row = firstRow(goal);
  return { ...goal, pass: { ...rest, step, ...(row !== undefined && { row }) } };
}

/**
 * A pass: what the goal finds out behind the baseline, a cycle, a person's answer or a wanted review. Validate, progress,
 * judges, the row that would end the goal, a review, rows once more, a checkpoint.
 * Invariants: nothing of a pass decides an ending by itself: it is decided at rest (rest.ts), behind the checkpoint;
 * at most one review a pass; at most CHECKS_AT_ONCE checks at once.
 */
import type { Failure } from '../state/failure.js';
import type { CheckFacts, ProgressItem } from '../state/goal/facts.js';
import type { ActivityEffect } from '../state/effect.js';
import type { ClosedCycle, Goal, OpenGoal, Pass } from '../state/goal/goal.js';
import type { RunCheckOutput, SaveCheckpointOutput } from '../state/goal/payloads.js';
import type { Ruling } from '../step/advance.js';
import { only, start } from '../step/inflight.js';
import { judgesToAsk } from './conditions.js';
import { askJudge } from './question.js';
import { firstRow } from './rows.js';
import { review } from './review.js';
import { GOAL_STORE_LIMITS, ofOpenGoal, tell, warnOf } from './telling.js';

export const CHECKS_AT_ONCE = 4;

export function beginPass(
  goal: OpenGoal,
  reason: Pass['reason'],
  cycle: { readonly progress?: readonly ProgressItem[]; readonly closed?: ClosedCycle } = {},
): OpenGoal {
  const passes = goal.passes + 1;
  // What is found out now stands in no brief that people were shown.
  const isNews = goal.draft !== undefined || goal.proposed.approved !== undefined;
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
    tally: { ...goal.tally, turnCount: passes },
    ...(isNews && { approvalStale: true }),
  };
}

/** Rule: every check runs once. */
export function validate(goal: OpenGoal): Ruling<OpenGoal> {
  const pass = passAt(goal, 'validate');
  if (pass === undefined) return undefined;
  const [name, ...toCheck] = pass.toCheck;
  const running = Object.keys(pass.checking).length;
  if (name === undefined) return running > 0 ? 'hold' : only(goTo(goal, pass, 'progress'));
  return running >= CHECKS_AT_ONCE ? 'hold' : startCheck(goal, { ...pass, toCheck }, name);
}

/** A check asks twice before it gives up. */
const ASKED_TWICE = 2;
const CHECK_MARGIN_MS = 30_000;

function startCheck(goal: OpenGoal, pass: Pass, name: string): Ruling<OpenGoal> {
  const term = goal.terms.checks.find((check) => check.name === name);
  if (term === undefined) return only({ ...goal, pass });
  const id = `run_check-${goal.nextEffect}`;
  const checking = { ...pass.checking, [id]: name };
  return start(
    { ...goal, pass: { ...pass, checking } },
    'run_check',
    (_, events): ActivityEffect => ({
      kind: 'run_check',
      id,
      input: {
        ...ofOpenGoal(goal),
        name,
        n: (goal.checks[name]?.n ?? 0) + 1,
        timeoutMs: term.timeoutMs,
        unservedMs: goal.terms.unavailableMs,
        events,
      },
      limits: {
        attemptMs: term.timeoutMs * ASKED_TWICE + CHECK_MARGIN_MS,
        heartbeatMs: GOAL_STORE_LIMITS.heartbeatMs!,
        maximumAttempts: 0,
      },
      summary: name,
    }),
  );
}

/** Fact: a check gave a result, or none. */
export function checkRan(goal: OpenGoal, effectId: string, output: RunCheckOutput): OpenGoal {
  const { pass } = goal;
  const name = pass?.checking[effectId];
  if (pass === undefined || name === undefined) return goal;
  const { [effectId]: _, ...checking } = pass.checking;
  const before = goal.checks[name];
  const better = goal.terms.checks.find((check) => check.name === name)?.better;
  const facts = factsOf(goal, { before, better, output });
  const improved =
    before?.best !== undefined && facts.best !== undefined && facts.best !== before.best;
  const progress: readonly ProgressItem[] = improved
    ? [...pass.progress, { kind: 'measure', id: name, value: facts.best!, best: before.best! }]
    : pass.progress;
  const next: OpenGoal = {
    ...goal,
    checks: { ...goal.checks, [name]: facts },
    pass: { ...pass, checking, progress },
  };
  return tellCheck(next, name, output);
}

interface Ran {
  readonly before: CheckFacts | undefined;
  readonly better: 'higher' | 'lower' | undefined;
  readonly output: RunCheckOutput;
}

function factsOf(goal: OpenGoal, { before, better, output }: Ran): CheckFacts {
  const { known, held, value, digest, because } = output;
  const best = bestOf(before?.best, { value, better });
  const counts = goal.pass?.reason === 'cycle' && !known;
  return {
    n: (before?.n ?? 0) + 1,
    known,
    held: known ? held : [],
    ...(value !== undefined && { value }),
    ...(best !== undefined && { best }),
    ...(digest !== undefined && { digest }),
    unknownCycles: known ? 0 : (before?.unknownCycles ?? 0) + (counts ? 1 : 0),
    cycle: goal.cycles,
    ...(because !== undefined && { because: because.slice(0, 200) }),
  };
}

function bestOf(
  best: number | undefined,
  { value, better }: { readonly value: number | undefined; readonly better: Ran['better'] },
): number | undefined {
  if (value === undefined || better === undefined) return best;
  if (best === undefined) return value;
  return better === 'higher' ? Math.max(best, value) : Math.min(best, value);
}

function tellCheck(goal: OpenGoal, name: string, output: RunCheckOutput): OpenGoal {
  const { known, because, changed } = output;
  const { n, value, best, digest } = goal.checks[name]!;
  const told = tell(goal, {
    type: 'check_finished',
    name,
    n,
    known,
    ...(value !== undefined && { value }),
    ...(best !== undefined && { best }),
    ...(digest !== undefined && { digest }),
    ...(because !== undefined && { because: because.slice(0, 200) }),
  });
  if (changed === undefined) return told;
  const [frozen, served] = changed;
  return warnOf(
    told,
    'check_changed',
    `check ${name} was frozen with ${frozen}, served is ${served}`,
  );
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
  const [condition] = judgesToAsk(goal);
  const asked = condition === undefined ? undefined : askJudge(goal, pass, condition);
  return asked ?? only(goTo(goal, pass, 'note'));
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

function passAt({ pass }: Goal, step: Pass['step']): Pass | undefined {
  return pass?.step === step ? pass : undefined;
}

function goTo(goal: OpenGoal, pass: Pass, step: Pass['step']): OpenGoal {
  return { ...goal, pass: { ...pass, step } };
}

function withRow(goal: OpenGoal, pass: Pass, step: Pass['step']): OpenGoal {
  const { row: _, ...rest } = pass;
  const row = firstRow(goal);
  return { ...goal, pass: { ...rest, step, ...(row !== undefined && { row }) } };
}

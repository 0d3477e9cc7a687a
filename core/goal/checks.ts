/**
 * Checks of a pass: each runs once, at most CHECKS_AT_ONCE at a time.
 * Invariant: a check that gave nothing is unknown, never done and never progress.
 */
import type { CheckFacts, ProgressItem } from '../state/goal/facts.js';
import type { ActivityEffect } from '../state/effect.js';
import type { OpenGoal, Pass } from '../state/goal/goal.js';
import type { RunCheckOutput } from '../state/goal/payloads.js';
import type { CheckTerm } from '../state/goal/terms.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { only, start } from '../step/inflight.js';
import { GOAL_STORE_LIMITS, ofOpenGoal, tell, warnOf } from './telling.js';
import { passAt, goTo } from './pass.js';

export const CHECKS_AT_ONCE = 4;

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
      ...placeOf(goal, term),
      summary: name,
    }),
  );
}

/** Whose workers run it, and how long it may lie there before one takes it. */
function placeOf(
  goal: OpenGoal,
  { queue, timeoutMs }: CheckTerm,
): Pick<ActivityEffect, 'limits' | 'queue'> {
  const limits = {
    attemptMs: timeoutMs * ASKED_TWICE + CHECK_MARGIN_MS,
    heartbeatMs: GOAL_STORE_LIMITS.heartbeatMs!,
    maximumAttempts: 0,
  };
  if (queue === undefined || !follows(goal, 'checksQueued')) return { limits };
  return { limits: { ...limits, queuedMs: goal.terms.unavailableMs }, queue };
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

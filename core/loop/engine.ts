/**
 * The two functions of the core (design §1).
 *
 * `advance(run)` decides: it applies the first rule that fires, again and again until none does.
 * `receive(run, input)` records facts and decides nothing (receive.ts).
 *
 * Invariants:
 *  A1 Deterministic: the same run gives the same step; no clock, randomness or I/O.
 *  A2 Terminates: at most ROUNDS_MAX rule applications, else it is a bug and says so.
 *  A3 No step is taken whose payload is larger than PAYLOAD_BYTES_MAX, while the run can stop instead.
 *  A4 Each event that a rule emits carries the rule's name.
 */
import { follows } from '../step/changes.js';
import type { ActivityEffect, Effect } from '../state/effect.js';
import { flush } from '../step/flush.js';
import { flying, WORK, type Step } from '../step/inflight.js';
import { opening, OPENING, RULES, type RuleName } from './rules.js';
import { statusOf } from './run-result.js';
import { isOpen, type OpenRun, type Run } from '../state/run.js';
import { stop } from '../step/stop.js';

export { receive } from './receive.js';

export const ROUNDS_MAX = 1_000;

/** What was decided, and by which rules, in the order in which they fired. */
export interface Decided extends Step {
  readonly rules: readonly RuleName[];
}

export function advance(run: Run): Decided {
  let current = run;
  const effects: Effect[] = [];
  const rules: RuleName[] = [];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const fired = firstThatFires(current);
    if (fired === undefined) return { ...settleOutside({ run: atRest(current), effects }), rules };
    rules.push(fired.rule);
    const oversized = oversizedIn(current, fired.step);
    if (oversized !== undefined) {
      current = tooLarge(current, oversized);
      continue;
    }
    current = fired.step.run;
    effects.push(...fired.step.effects);
  }
  throw new Error(
    `advance did not come to rest in ${ROUNDS_MAX} rounds; this is a bug in the core`,
  );
}

/** What a run that still can stop for it must not start. */
function oversizedIn(run: Run, { effects }: Step): ActivityEffect | undefined {
  if (!isOpen(run) || run.stopping !== undefined) return undefined;
  return effects.find((effect): effect is ActivityEffect => 'oversized' in effect);
}

/** The last resort: the step is as if it had never been, and the run says why it ends. */
function tooLarge(run: Run, { kind }: ActivityEffect): Run {
  return stop(run, 'failed', {
    detail: `payload_too_large:${kind}`,
    nextSafeAction: 'Make the task, the policy or the messages smaller, then start again.',
  });
}

function atRest(run: Run): Run {
  if (run.rule === undefined) return run;
  const { rule: _, ...rest } = run;
  return rest;
}

interface Fired {
  readonly rule: RuleName;
  readonly step: Step;
}

function firstThatFires(given: Run): Fired | undefined {
  const opened = opening(given);
  if (opened !== undefined) return opened === 'hold' ? undefined : { rule: OPENING, step: opened };
  if (!isOpen(given)) return undefined;
  const names = follows(given, 'ruleNames');
  // One copy serves all rules of a round: each finds its own name in the run.
  const run: OpenRun & { rule?: string } = names ? { ...given } : given;
  for (const { name, apply } of RULES) {
    if (names) run.rule = name;
    const step = apply(run);
    if (step === 'hold') return undefined;
    if (step !== undefined) return { rule: name, step };
  }
  return undefined;
}

/** Events that nothing else will carry are flushed; a changed status is shown. */
function settleOutside(step: Step): Step {
  const flushed = withFlush(step);
  const status = statusOf(flushed.run);
  if (status === flushed.run.shownStatus || waitsForCalls(flushed, status)) return flushed;
  return {
    run: { ...flushed.run, shownStatus: status },
    effects: [...flushed.effects, { kind: 'status', status }],
  };
}

/**
 * That a run goes on is shown when its calls are back: what is shown costs the server a millisecond or
 * more, before it lets a call start that a person has just approved. The store tells it at once.
 */
function waitsForCalls({ run, effects }: Step, status: string): boolean {
  const starts = effects.some(({ kind }) => kind === 'execute_tool');
  return starts && status === 'running' && follows(run, 'callsBeforeStatus');
}

function withFlush(step: Step): Step {
  const { run } = step;
  const idle = isOpen(run) && run.final === undefined && !flying(run, [...WORK, 'flush']);
  if (!idle || run.outbox.events.length === 0 || run.segment.full) return step;
  const flushed = flush(run);
  return { run: flushed.run, effects: [...step.effects, ...flushed.effects] };
}

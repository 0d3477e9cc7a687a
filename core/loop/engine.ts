/**
 * The two functions of the core.
 *
 * `advance(run)` decides: it applies the first rule that fires, again and again until none does (step/advance.ts).
 * `receive(run, input)` records facts and decides nothing (receive.ts).
 */
import { follows } from '../step/changes.js';
import type { ActivityEffect } from '../state/effect.js';
import { flush, flying, WORK } from '../step/inflight.js';
import * as step from '../step/advance.js';
import { BETWEEN_REPLIES } from './between-replies.js';
import { ALWAYS, AT_REST, OPENING, WITH_REPLY, type RuleName } from './rules.js';
import { isStoppedByPerson, statusOf } from './run-result.js';
import { isOpen, type Run, type Step } from '../state/run.js';
import { stop } from '../step/stop.js';

export { receive } from './receive.js';

/** What was decided, and by which rules, in the order in which they fired. */
export type Decided = step.Decided<Run, RuleName>;

export function advance(run: Run): Decided {
  return step.advance({ firing, withoutOversized, atRest }, run);
}

function firing(given: Run): step.Fired<Run, RuleName> | undefined {
  if (given.final !== undefined) return undefined;
  // One copy serves all rules of a round: each finds its own name in the run.
  const run = { ...given };
  const fired = firstFiring(run);
  if (fired !== undefined && fired !== 'hold') return fired;
  const rested = isOpen(run) ? step.firstOf(AT_REST, run) : undefined;
  return rested === 'hold' ? undefined : rested;
}

function firstFiring(run: Run): step.Fired<Run, RuleName> | 'hold' | undefined {
  const opening = step.firstOf(OPENING, run);
  if (opening !== undefined || !isOpen(run)) return opening;
  const always = step.firstOf(ALWAYS, run);
  if (always !== undefined) return always;
  const { turn } = run;
  return turn === undefined
    ? step.firstOf(BETWEEN_REPLIES, run)
    : step.firstOf(WITH_REPLY, run, turn);
}

/** The last resort: the step is as if it had never been, and the run says why it ends. */
function withoutOversized(run: Run, { kind }: ActivityEffect): Run | undefined {
  // A run that stops must not be kept from it.
  if (!isOpen(run) || run.stopping !== undefined) return undefined;
  return stop(run, 'failed', {
    detail: `payload_too_large:${kind}`,
    nextSafeAction: 'Make the task, the policy or the messages smaller, then start again.',
  });
}

/** Events that nothing else will carry are flushed; a changed status is shown. */
function atRest(decided: Step): Step {
  const flushed = withFlush(decided);
  const status = statusOf(flushed.run);
  if (status === flushed.run.shownStatus || waitsForCalls(flushed, status)) return flushed;
  if (waitsForEnd(flushed.run)) return flushed;
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

/**
 * What a run that is being stored has come to is shown with its end; what it still has to wait for keeps it running. A
 * person's stop, and that nobody is waited for any more, are shown at once: the store may be away for long.
 */
function waitsForEnd(run: Run): boolean {
  const isStored = run.final === undefined && run.stopping?.result !== undefined;
  if (!isStored || run.shownStatus !== 'running' || isStoppedByPerson(run)) return false;
  return follows(run, 'endShown');
}

function withFlush(decided: Step): Step {
  const { run } = decided;
  const idle = isOpen(run) && run.final === undefined && !flying(run, [...WORK, 'flush']);
  if (!idle || run.outbox.events.length === 0 || run.segment.full) return decided;
  const flushed = flush(run);
  return { run: flushed.run, effects: [...decided.effects, ...flushed.effects] };
}

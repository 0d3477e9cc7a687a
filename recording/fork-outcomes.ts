/**
 * What a record knows later of the calls with effects that were in flight, or between two attempts, after a step.
 * Invariant: only what was known for certain is an outcome; the first such word counts.
 */
import { hasEffects, isBetweenAttempts } from '../core/loop/fork-beginning.js';
import { receive } from '../core/loop/engine.js';
import type { CallFact, ReturnedStage } from '../core/state/call.js';
import type { Input } from '../core/state/input.js';
import type { Run } from '../core/state/run.js';
import type { RunFold } from './fold.js';

/** By call id. */
export function forkOutcomes(fold: RunFold, step: number): { readonly [callId: string]: CallFact } {
  const reader = outcomeReader(fold.at(step).after);
  let next = step + 1;
  while (next <= fold.steps.length && reader.moment(fold.at(next))) next += 1;
  return Object.fromEntries(reader.found);
}

export interface OutcomeReader {
  /** The steps behind the one at hand, in order. False: those that follow have nothing more. */
  moment(moment: LaterMoment): boolean;
  /** By call id. */
  readonly found: ReadonlyMap<string, CallFact>;
}

export interface LaterMoment {
  readonly before: Run;
  readonly given: readonly Input[];
}

/** `after`: the state after the step at hand. */
export function outcomeReader(after: Run): OutcomeReader {
  const wanted = new Set(
    (after.turn?.calls ?? []).flatMap((call) => {
      const isUnderWay = call.stage === 'executing' && hasEffects(after, call.tool);
      return isUnderWay || isBetweenAttempts(call) ? [call.id] : [];
    }),
  );
  const found = new Map<string, CallFact>();
  let isOver = wanted.size === 0;
  return {
    found,
    moment({ before, given }) {
      isOver ||= before.turn?.messageId !== after.turn?.messageId;
      if (isOver) return false;
      for (const call of returnedIn(before, given)) {
        const { id, fact } = call;
        if (wanted.has(id) && !found.has(id) && isKnown(call)) found.set(id, fact);
      }
      isOver = found.size === wanted.size;
      return !isOver;
    },
  };
}

/** What came back of calls, in order; the state after the step has only what became of it. */
function returnedIn(before: Run, given: readonly Input[]): readonly ReturnedStage[] {
  let run = before;
  return given.flatMap((input) => {
    run = receive(run, input);
    return (run.turn?.calls ?? []).filter((call) => call.stage === 'returned');
  });
}

/** The core itself says of these facts what became of the call, and asks nobody. */
function isKnown({ fact, inDoubt }: ReturnedStage): boolean {
  switch (fact.kind) {
    case 'outcome':
      return fact.outcome.kind === 'ok' || fact.outcome.kind === 'error';
    case 'finding':
      return fact.finding.kind === 'happened' || fact.finding.kind === 'not_happened';
    case 'recorded':
      return true;
    case 'failure':
      // Refused before its code ran; of an attempt in doubt before it, that tells nothing.
      return fact.failure.code === 'GrantInvalid' && !fact.outOfTime && inDoubt === undefined;
    default:
      return false;
  }
}

/**
 * The first rules of a segment of a goal: `open_goal` opens it, or the goal ends for want of it.
 * Invariants: `open_goal` is the first effect of each segment; a goal that could not be opened has said nothing, so that
 * it ends without events.
 */
import type { ActivityEffect } from '../state/effect.js';
import type { EndingRow, Goal } from '../state/goal/goal.js';
import type { Ruling } from '../step/advance.js';
import { cancelAll, flying, nextId, only, start, startTimer } from '../step/inflight.js';
import { end, late, unheard } from './ending.js';
import { goalResult } from './result.js';
import { GOAL_STORE_LIMITS, ofGoal } from './telling.js';
import { answered } from './verdicts.js';

/** How long a goal that people end may still take to open, so that it ends with its events; ms. */
const OPENING_GRACE_MS = 10_000;

export function openGoal(goal: Goal): Ruling<Goal> {
  if (goal.segment.opened) return goal.terms === undefined ? 'hold' : undefined;
  if (flying(goal, ['open_goal'])) {
    return wantedEnd(goal) === undefined ? 'hold' : giveUpOpening(goal);
  }
  const { segment, start: first, previousExecution } = goal;
  return start(goal, 'open_goal', (id, events): ActivityEffect => ({
    kind: 'open_goal',
    id,
    input: {
      ...ofGoal(goal),
      segment: segment.number,
      ...(segment.number === 0 && first !== undefined && { start: first }),
      ...(previousExecution !== undefined && { previousExecution }),
      events,
    },
    limits: GOAL_STORE_LIMITS,
    summary: `goal, segment ${segment.number}`,
  }));
}

/**
 * How people want a goal to end that is being opened. Whether words must be proven is known when it is open; a goal that
 * does not become open has done nothing that a proof could guard.
 */
function wantedEnd({ cancelRequested, unjudged, terms }: Goal): EndingRow | undefined {
  const said = terms === undefined ? unjudged.map(({ message }) => message?.type) : [];
  if (cancelRequested || said.includes('cancel')) return { row: 'cancel', reason: 'aborted' };
  return said.includes('stop') ? { row: 'stop', reason: 'interrupted' } : undefined;
}

/** What keeps a goal from being opened must not keep people from ending it. */
function giveUpOpening(goal: Goal): Ruling<Goal> {
  const { openingTimer } = goal;
  if (openingTimer === undefined) {
    const timer = nextId(goal, 'timer');
    const timed = startTimer(goal, {
      at: goal.now + OPENING_GRACE_MS,
      summary: 'grace of a cancel',
    });
    return { run: { ...timed.run, openingTimer: timer }, effects: timed.effects };
  }
  if (goal.inflight[openingTimer] !== undefined) return 'hold';
  const cancelled = cancelAll(goal, ['open_goal']);
  return cancelled.effects.length > 0 ? cancelled : 'hold';
}

/** An attempt that was under way when the opening was cancelled ends as what kept it from opening. */
function hasGivenUp({ openingTimer, inflight }: Goal): boolean {
  return openingTimer !== undefined && inflight[openingTimer] === undefined;
}

/** The first segment could not be opened: its workflow fails, unless people had ended the goal meanwhile. */
export function endUnopened(goal: Goal): Ruling<Goal> {
  const { notOpened } = goal;
  if (notOpened === undefined) return undefined;
  const row = notOpened.cancelled === true || hasGivenUp(goal) ? wantedEnd(goal) : undefined;
  if (row === undefined) {
    const { code, message } = notOpened;
    return only({ ...goal, final: { kind: 'refused', code, message } });
  }
  const ended = end(unheard(heeded(goal)), row);
  const result = { ...goalResult(ended), ...late(ended) };
  return only({ ...ended, ending: { ...row, result }, final: { kind: 'result', result } });
}

/** Whoever said that it ends hears that it does. */
function heeded(goal: Goal): Goal {
  const isHeeded = ({ message }: Goal['unjudged'][number]): boolean =>
    message?.type === 'cancel' || message?.type === 'stop';
  const others = { ...goal, unjudged: goal.unjudged.filter((held) => !isHeeded(held)) };
  return goal.unjudged
    .filter(isHeeded)
    .reduce<Goal>((next, { ticket }) => answered(next, ticket, { accepted: true }), others);
}

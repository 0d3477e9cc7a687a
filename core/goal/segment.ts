/**
 * How a segment of a goal begins and ends, and the keys that it is told.
 * Invariant: the first effect of each segment opens it; nobody waits over the end of one.
 */
import type { Ruling } from '../step/advance.js';
import { flying, only, start, startTimer, WORK } from '../step/inflight.js';
import { CONTINUE_AS_NEW_BYTES_MAX, fitsBytes } from '../json/json.js';
import type { ActivityEffect } from '../state/effect.js';
import type { OpenGoal } from '../state/goal/goal.js';
import { flushGoal } from './ending.js';
import { RECEIVED } from './verdicts.js';
import { beginPass } from './pass.js';
import { GOAL_STORE_LIMITS, ofGoal, tell } from './telling.js';

/** Cycles after which a segment ends at the latest. */
const CYCLES_PER_SEGMENT = 20;

export function begin(goal: OpenGoal): Ruling<OpenGoal> {
  if (goal.passes > 0 || goal.ending !== undefined) return undefined;
  const { terms, caller } = goal;
  const told = tell(goal, {
    type: 'goal_started',
    agent: goal.agent,
    objective: { text: terms.objective },
    definition: terms.definition,
    maxCostMicroUsd: terms.budget.maxCostMicroUsd,
    pace: terms.pace,
    ...(caller !== undefined && { caller }),
    ...(terms.requireProof && { requireProof: true as const }),
    versions: terms.versions,
  });
  const begun = beginPass(told, 'baseline');
  const { deadlineMs } = terms.budget;
  return deadlineMs === 'unlimited'
    ? only(begun)
    : startTimer(begun, { at: goal.startedAt + deadlineMs, summary: 'deadline' });
}

export function segmentFull(goal: OpenGoal): Ruling<OpenGoal> {
  const full = goal.segment.full || goal.cycles - goal.cyclesBefore >= CYCLES_PER_SEGMENT;
  if (!full) return undefined;
  // Where a step of a pass or of a cycle is under way, its end comes first.
  if (flying(goal, [...WORK, 'flush', 'start_child']) || goal.cycle?.stage === 'starting') {
    return goal.segment.full ? (goal.cycle?.stage === 'starting' ? undefined : 'hold') : undefined;
  }
  const isLarge = goal.outbox.events.length > 0 && !fitsBytes(goal, CONTINUE_AS_NEW_BYTES_MAX);
  if (isLarge) return flushGoal(goal);
  return only({ ...released(goal), final: { kind: 'continue_as_new' } });
}

/** Nobody waits over the end of a segment: what came is kept, and what it comes to is told by events. */
function released(goal: OpenGoal): OpenGoal {
  const waiting = [...goal.messages, ...goal.unjudged];
  const tickets = waiting.flatMap(({ ticket }) => ticket ?? []);
  if (tickets.length === 0) return goal;
  return {
    ...goal,
    messages: goal.messages.map(withoutTicket),
    unjudged: goal.unjudged.map(withoutTicket),
    verdicts: [...goal.verdicts, ...tickets.map((ticket) => ({ ticket, verdict: RECEIVED }))],
  };
}

function withoutTicket<T extends { readonly ticket?: string }>(held: T): Omit<T, 'ticket'> {
  const { ticket: _, ...rest } = held;
  return rest;
}

export function fetchKeys(goal: OpenGoal): Ruling<OpenGoal> {
  const { unjudged } = goal;
  if (unjudged.length === 0 || flying(goal, ['fetch_keys'])) return undefined;
  const kids = [
    ...new Set(unjudged.flatMap(({ decision, message }) => decision?.kid ?? message?.kid ?? [])),
  ];
  return start(goal, 'fetch_keys', (id, events): ActivityEffect => ({
    kind: 'fetch_keys',
    id,
    input: { ...ofGoal(goal), kids, events },
    limits: GOAL_STORE_LIMITS,
    summary: 'keys of the desk',
  }));
}

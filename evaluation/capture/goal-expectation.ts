/**
 * What a captured case of a goal expects: that the goal ends as it did, after the same cycles, with the same plan, state
 * and cost, and that its tools did the same.
 */
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Expected } from '../fixture.js';
import { expectationOf } from './expectation.js';
import { isGoalTool, type GoalRecording } from './goal-recording.js';
import type { Recording } from './recording.js';
import type { Texts } from './texts.js';

export interface GoalExpecting {
  readonly recording: GoalRecording;
  /** The cycles as one run; absent: none has opened. */
  readonly together?: Recording | undefined;
  readonly texts: Texts;
  readonly isPriceKnown: boolean;
  /** Name of an agent in the case. */
  readonly nameOf: (agent: string) => string;
}

const COUNTED = ['modelCalls', 'turnCount', 'proposedCalls', 'toolCalls', 'deniedCalls'] as const;

/** Of a goal that has not ended: how it ends is no part of it. */
export function goalExpectation(expecting: GoalExpecting): Expected {
  const { recording, texts, isPriceKnown } = expecting;
  const { events } = recording.bundle;
  const last = events.at(-1);
  if (last?.type !== 'goal_result') return progress(expecting);
  const { result } = last;
  const { stopReason, detail, status, completed, answer, counters, goal } = result;
  const counted = Object.fromEntries(COUNTED.map((name) => [name, counters[name]]));
  return {
    stop_reason: stopReason,
    ...(detail !== undefined && { detail }),
    status,
    completed,
    answer: answer === undefined ? null : texts.text(answer),
    ...(isPriceKnown && { cost_micro_usd: result.costMicroUsd }),
    ...progress(expecting),
    ...(isPriceKnown && { counters: counted as Expected['counters'] }),
    cycles: count(events, 'cycle_started'),
    reviews: count(events, 'goal_review'),
    checkpoints: count(events, 'checkpoint_saved'),
    checks: count(events, 'check_finished'),
    ...(goal !== undefined &&
      goal.done.length > 0 && { done: goal.done.map(({ held }) => ({ held })) }),
    ...remembered(recording, goal?.memory),
  };
}

function count(events: readonly RunEvent[], type: RunEvent['type']): number {
  return events.filter((event) => event.type === type).length;
}

function progress({ recording, together, texts, isPriceKnown, nameOf }: GoalExpecting): Expected {
  const { events } = recording.bundle;
  const ended = events.flatMap((event) => (event.type === 'cycle_ended' ? [event] : []));
  const agents = events.flatMap((event) =>
    event.type === 'cycle_started' ? [nameOf(event.agent)] : [],
  );
  return {
    ...(together !== undefined && workOf(together, texts)),
    ...(ended.length > 0 && {
      cycle_results: ended.map(({ stopReason, detail, costMicroUsd, progress: made }) => ({
        stop_reason: stopReason,
        ...(detail !== undefined && { detail }),
        ...(isPriceKnown && { cost_micro_usd: costMicroUsd }),
        progress: made.length > 0,
      })),
    }),
    ...(agents.length > 0 && { agents }),
    events: [
      { event: 'goal_started' },
      ...events.flatMap((event): NonNullable<Expected['events']> =>
        event.type === 'cycle_started' || event.type === 'cycle_ended'
          ? [{ event: event.type, cycle: event.n }]
          : [],
      ),
    ],
  };
}

/** What the tools of the cycles did, and what came back of it. */
function workOf(together: Recording, texts: Texts): Expected {
  const { executed, results = {} } = expectationOf({
    recording: { ...together, bundle: { ...together.bundle, events: withoutEnds(together) } },
    texts,
    isPriceKnown: false,
  });
  const ids = together.bundle.events.flatMap((event) =>
    event.type === 'tool_finished' ? [event.callId] : [],
  );
  const once = Object.entries(results).filter(
    ([id]) => ids.filter((one) => one === id).length === 1 && !isOfGoal(together, id),
  );
  return {
    ...(executed !== undefined && { executed: executed.map(withoutCall) }),
    ...(once.length > 0 && { results: Object.fromEntries(once) }),
  };
}

/** Calls of two cycles may have the same id. */
function withoutCall(work: NonNullable<Expected['executed']>[number]) {
  const { call: _, ...rest } = work;
  return rest;
}

/** What the tools of the goal answer depends on what the goal remembers then. */
function isOfGoal({ bundle }: Recording, id: string): boolean {
  return bundle.events.some(
    (event) => event.type === 'tool_finished' && event.callId === id && isGoalTool(event.tool),
  );
}

function withoutEnds({ bundle }: Recording): readonly RunEvent[] {
  return bundle.events.filter(({ type }) => type !== 'run_result');
}

function remembered(
  { bundle }: GoalRecording,
  hash: string | undefined,
): Pick<Expected, 'plan' | 'state'> {
  const text = hash === undefined ? undefined : bundle.blobs[hash];
  if (text === undefined) return {};
  const { plan, state } = JSON.parse(text) as GoalMemory;
  const published = Object.entries(state).map(([path, { value }]) => [path, value] as const);
  return {
    ...(plan.steps.length > 0 && {
      plan: plan.steps.map(({ id, title, status }) => ({ id, title, status })),
    }),
    ...(published.length > 0 && { state: Object.fromEntries(published) }),
  };
}

/** What was decided about each call of a run, then and now. */
import type { RunEvent } from '../../core/state/event.js';
import type { Observation } from '../engine.js';
import type { PastPlay } from './play.js';

export interface CallDecision {
  /** `allow`, `ask`, `deny` …; absent: nothing came to a decision. */
  readonly permission?: string;
  /** Which rule of the policy said so. */
  readonly rule?: string;
  /** How the call ended: `ok`, or the code of its error. */
  readonly end?: string;
}

export interface ChangedDecision {
  readonly call: string;
  readonly tool: string;
  readonly was: CallDecision | null;
  readonly now: CallDecision | null;
}

/** In the order of the calls; empty: everything is decided as it was. */
export function changedDecisions({ was, now }: PastPlay): readonly ChangedDecision[] {
  const [before, after] = [decisionsIn(was), decisionsIn(now)];
  const calls = new Set([...before.keys(), ...after.keys()]);
  return [...calls].flatMap((call): readonly ChangedDecision[] => {
    const [one, other] = [before.get(call), after.get(call)];
    if (wordsOf(one) === wordsOf(other)) return [];
    const { tool } = (one ?? other)!;
    return [{ call, tool, was: one?.decision ?? null, now: other?.decision ?? null }];
  });
}

interface Decided {
  readonly tool: string;
  readonly decision: CallDecision;
}

function decisionsIn({ events }: Observation): ReadonlyMap<string, Decided> {
  const decisions = new Map<string, Decided>();
  const add = (call: string, tool: string, more: CallDecision): void => {
    const known = decisions.get(call);
    decisions.set(call, { tool: known?.tool ?? tool, decision: { ...known?.decision, ...more } });
  };
  for (const event of events) addTo(add, event);
  return decisions;
}

function addTo(
  add: (call: string, tool: string, more: CallDecision) => void,
  event: RunEvent,
): void {
  switch (event.type) {
    case 'model_response':
      for (const { id, tool } of event.calls) add(id, tool, {});
      return;
    case 'permission':
      return add(event.callId, event.tool, { permission: event.decision, rule: event.rule });
    case 'tool_finished':
      return add(event.callId, event.tool, { end: event.code ?? event.status });
    default:
  }
}

/** A rule of another place that says the same is no change. */
function wordsOf(decided: Decided | undefined): string {
  const { permission, end } = decided?.decision ?? {};
  return `${decided?.tool} ${permission} ${end}`;
}

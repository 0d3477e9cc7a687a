/**
 * What a person should do after a run that somebody stopped, in words that are true of it: those of its result do not
 * know what its calls came to, and before rules 24 not whether it keeps a session. Its events do.
 */
import type { RunEvent } from '../core/state/event.js';
import type { RunResult } from '../core/state/result.js';
import { AFTER_A_PERSON } from '../core/step/stop.js';

/** What is known of a run that has ended. */
export interface EndedRun {
  /** Absent: unknown, or it is not to be started by itself. */
  readonly agent?: string;
  /** Absent: it keeps none. */
  readonly sessionId?: string;
  /** Calls of which nobody knows whether they took effect, the last ones. */
  readonly inDoubt: readonly { readonly tool: string; readonly key: string }[];
}

export const NOTHING_KNOWN: EndedRun = { inDoubt: [] };
const IN_DOUBT_MAX = 3;

/** What is known after this event. */
export function knownAfter(before: EndedRun, event: RunEvent): EndedRun {
  if (event.type === 'session_init') {
    const { agent, sessionId, parent } = event;
    return {
      ...(parent === undefined && { agent }),
      ...(sessionId !== undefined && { sessionId }),
      inDoubt: [],
    };
  }
  if (event.type !== 'tool_finished' || event.code !== 'outcome_unknown') return before;
  const { tool, key } = event;
  return { ...before, inDoubt: [...before.inDoubt, { tool, key }].slice(-IN_DOUBT_MAX) };
}

const STOPPED: readonly unknown[] = Object.values(AFTER_A_PERSON);

/** Whether a person stopped it: its result knows nothing of its calls, and before rules 24 nothing of its session. */
export function isStoppedByPerson({ nextSafeAction }: RunResult): boolean {
  return STOPPED.includes(nextSafeAction);
}

/** undefined: nothing is to be done. */
export function nextActionAfter(result: RunResult, run: EndedRun): string | undefined {
  if (!isStoppedByPerson(result)) return result.nextSafeAction;
  const { agent, sessionId, inDoubt } = run;
  const calls = inDoubt.map(({ tool, key }) => `${tool} with key ${key}`).join(' and ');
  const doubt = calls === '' ? [] : [`A person must find out first whether ${calls} took effect.`];
  const how = agent === undefined ? '' : ` with \`holdfast start ${agent} 'TASK'\``;
  const start = `The run keeps no session: start a new run${how}.`;
  return [...doubt, sessionId === undefined ? start : result.nextSafeAction].join(' ');
}

/**
 * What a person should do after a run that somebody stopped, in words that are true of it: those of its result know
 * neither whether it keeps a session nor what its calls came to. Its events do.
 */
import type { RunEvent } from '../core/state/event.js';
import type { RunResult } from '../core/state/result.js';
import { STOP_MEANINGS } from '../core/step/stop.js';

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

/** Whether its result sends people to a session, which it may not have. */
export function isSentToSession({ nextSafeAction }: RunResult): boolean {
  return nextSafeAction !== undefined && nextSafeAction === STOP_MEANINGS.interrupted.next;
}

/** undefined: nothing is to be done. */
export function nextActionAfter(result: RunResult, run: EndedRun): string | undefined {
  if (!isSentToSession(result)) return result.nextSafeAction;
  const { agent, sessionId, inDoubt } = run;
  const calls = inDoubt.map(({ tool, key }) => `${tool} with key ${key}`).join(' and ');
  const doubt = calls === '' ? [] : [`A person must find out first whether ${calls} took effect.`];
  const how = agent === undefined ? '' : ` with \`holdfast start ${agent} 'TASK'\``;
  const start = `The run keeps no session: start a new run${how}.`;
  return [...doubt, sessionId === undefined ? start : result.nextSafeAction].join(' ');
}

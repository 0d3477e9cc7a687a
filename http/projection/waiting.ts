/** Whether a message goes on by itself. */
import type { UiFold } from './state.js';

const NONE: ReadonlySet<string> = new Set();

/** Whether nothing goes on before a person has said something. `decided`: questions whose end is on its way. */
export function isWaiting(state: UiFold, decided: ReadonlySet<string> = NONE): boolean {
  const { asks, awaitsUser, calls, reply } = state;
  const isOpen = [...asks.keys()].some((askId) => !decided.has(askId));
  if (!isOpen && !awaitsUser) return false;
  // A call in doubt runs no more: its question asks what became of it.
  const inDoubt = new Set(
    [...asks.values()].flatMap(({ ask, of }) =>
      ask.kind === 'outcome' && of === state.runId && !decided.has(ask.askId) ? [ask.callId] : [],
    ),
  );
  const isRunning = [...calls].some(
    ([callId, call]) =>
      call.state === 'running' && !inDoubt.has(callId) && !isHeldUp(state, decided, call.child),
  );
  return !isRunning && reply === undefined;
}

/** A sub-agent that asks, or that waits for others which ask. */
function isHeldUp(state: UiFold, decided: ReadonlySet<string>, child: string | undefined): boolean {
  const run = child === undefined ? undefined : state.below.get(child);
  if (run === undefined || run.ended) return false;
  const asks = [...state.asks.values()].some(
    ({ ask, of }) => of === run.runId && !decided.has(ask.askId),
  );
  const working = [...run.running.values()];
  if (!asks && working.length === 0) return false;
  return working.every((one) => isHeldUp(state, decided, one));
}

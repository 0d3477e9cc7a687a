/**
 * What comes before the next request: the budgets, and in a conversation the user's next message (`afterAnswer:
 * 'await_user'`, and after a pause). A conversation ends when nobody comes.
 * Invariant: the question to the user is open exactly while the run waits for a message.
 */
import { closeAsk, openAsk } from '../ask/open-ask.js';
import { askModel } from '../turn/request.js';
import type { Ruling } from '../step/advance.js';
import { trip, type CheckPoint } from '../money/budget.js';
import { exceed } from '../money/exceed.js';
import { follows } from '../step/changes.js';
import { flying, only } from '../step/inflight.js';
import { pendingAsks } from '../step/open-work.js';
import type { OpenRun, Run } from '../state/run.js';
import { stop } from '../step/stop.js';

/** The next model call; a waiting conversation needs a message first. */
export function asking(run: OpenRun): Ruling<Run> {
  if (!run.idle) return askModel(run);
  if (hasNothingToSay(run)) return undefined;
  const ask = pendingAsks(run).find((open) => open.kind === 'user_message');
  const closed = ask === undefined ? only(run) : closeAsk(run, ask.id, { outcome: 'answered' });
  // Nothing refers to the question any more: a conversation of any length keeps none (R1).
  const asks = pendingAsks(closed.run);
  const { paused: _, ...going } = closed.run;
  return { run: { ...going, asks, idle: false }, effects: closed.effects };
}

export function awaitingUser(run: OpenRun): Ruling<Run> {
  if (run.closeRequested) return only(stop(run, 'completed', { detail: 'closed' }));
  const ask = pendingAsks(run).find((open) => open.kind === 'user_message');
  if (ask?.elapsed) {
    const closed = closeAsk(run, ask.id, { outcome: 'expired' });
    return { run: nobodyCame(closed.run), effects: closed.effects };
  }
  if (ask !== undefined) return 'hold';
  const id = userAskId(run);
  return openAsk(run, {
    id,
    kind: 'user_message',
    digest: id,
    roles: [],
    quorum: 1,
    expiresInMs: run.frozen.settings.idleTimeoutMs,
    onExpiry: 'stop',
  });
}

/** A run can pause more than once in a turn, never twice after the same request. */
function userAskId({ runId, paused, tally, requests }: OpenRun): string {
  const id = `${runId}:user:${tally.turnCount}`;
  return paused === undefined ? id : `${id}:paused:${requests}`;
}

function nobodyCame(run: OpenRun): OpenRun {
  return run.paused === undefined
    ? stop(run, 'completed', { detail: 'idle' })
    : stop(run, 'interrupted', { phase: run.paused });
}

/** A reply, a summary or the word of a supervisor is awaited. */
export function asksModel(run: OpenRun): boolean {
  return flying(run, ['call_model', 'compact', 'ask_supervisor']);
}

/** It waits for its user, and no message is there. Letters of other runs end no pause. */
export function hasNothingToSay({ idle, paused, queue }: OpenRun): boolean {
  return idle && !queue.some(({ from }) => paused === undefined || from === undefined);
}

/** Rule: what a budget that is used up between two turns leads to. */
export function limits(run: OpenRun): Ruling<Run> {
  if (asksModel(run)) return 'hold';
  if (hasNothingToSay(run)) return undefined;
  const tripped = trip(run, run.wrapUp === undefined ? 'between_turns' : lastCheck(run));
  return tripped === undefined ? undefined : only(exceed(run, tripped));
}

/** No turn more than the budget has, not even for the last word (C2). */
function lastCheck(run: OpenRun): CheckPoint {
  return follows(run, 'wrapUpFits') ? 'last_word' : 'before_restart';
}

/**
 * What becomes of a call whose effect was already brought about for the same business object: a person is
 * asked once more, and sees what was done.
 * Invariants: nothing has been claimed, so nothing of it has happened; no mode and no standing grant takes
 * the person's place; the call keeps its key.
 */
import { only } from '../step/inflight.js';
import { REPEAT_ASKS_MAX, type Repeats } from '../controls/repeats.js';
import { emit } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import { type ReturnedStage } from '../state/call.js';
import { modeOf, UNASKABLE } from '../permission/permission.js';
import { askIdOf } from './admission.js';
import { errorResult, settleCall } from './result.js';
import { go, type StationResult, baseOf } from '../step/open-work.js';

export function askToRepeat(run: OpenRun, call: ReturnedStage, repeats: Repeats): StationResult {
  const number = (call.repeatAsks ?? 0) + 1;
  const objection =
    modeOf(run) === 'dontAsk'
      ? UNASKABLE
      : number > REPEAT_ASKS_MAX && 'It was asked about too often.';
  const reason = `The same was done before for ${repeats.identity.join(', ').slice(0, 200)}.`;
  const told = emit(run, {
    type: 'permission',
    callId: call.id,
    tool: call.tool,
    decision: objection === false ? 'ask' : 'deny',
    rule: 'identity',
    reason,
  });
  if (objection !== false) {
    const message = `Nothing was done. ${reason} ${objection} Do not call it again for this.`;
    const refused = errorResult(told, call, { code: 'permission_denied', message });
    return { kind: 'moved', step: only(settleCall(told, call, refused)) };
  }
  return go(told, {
    ...baseOf(call),
    repeatAsks: number,
    stage: 'waiting',
    askId: `${askIdOf(run, call)}:repeat${number > 1 ? `:${number}` : ''}`,
    mode: modeOf(run),
    repeats,
    ...(call.grant.sandbox && { sandbox: true }),
  });
}

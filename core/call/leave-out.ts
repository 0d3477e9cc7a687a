/** What a run that wraps up leaves out (C42): calls that have not begun never begin. */
import { closeAsk } from '../ask/open-ask.js';
import type { Call } from '../state/call.js';
import { refusalOf } from '../step/refusal.js';
import { settleCall } from './settled.js';
import type { Step } from '../step/inflight.js';
import type { OpenRun } from '../state/run.js';

const NOT_BEGUN: readonly Call['stage'][] = [
  'proposed',
  'checked',
  'hooked',
  'waiting',
  'granted',
  'rechecked',
];

/** What has not begun when the wrap-up does never begins; nobody is asked about it either. */
export function leaveOut(run: OpenRun, call: Call): Step<OpenRun> | undefined {
  if (run.wrapUp === undefined || !NOT_BEGUN.includes(call.stage)) return undefined;
  const message = 'Not executed: a budget of this run is used up.';
  const closed =
    call.stage === 'waiting'
      ? closeAsk(run, call.askId, { outcome: 'withdrawn', reason: 'a budget is used up' })
      : { run, effects: [] };
  const refusal = refusalOf(closed.run, call, { code: 'budget_exceeded', message });
  return { run: settleCall(closed.run, call, refusal), effects: closed.effects };
}

/**
 * Station 2: are the arguments valid? The model activity ran the schema, where its worker had it; here its word is
 * used. Otherwise a worker that has it is asked.
 */
import { emit } from '../step/outbox.js';
import type { CallCheck } from '../state/model.js';
import type { OpenRun } from '../state/run.js';
import { withOutlook, type Call, type ProposedStage } from '../state/call.js';
import { toolOf } from '../permission/offered-tools.js';
import { startCheck } from './recheck.js';
import { refusalOf } from '../step/refusal.js';
import { settleCall } from './settled.js';
import { go, refuse, type Verdict } from '../step/station.js';

export function check(run: OpenRun, call: ProposedStage): Verdict {
  const { tool, toolVersion, args } = call;
  if (!call.check.ok) return refuseUnchecked(run, call, call.check);
  if (call.check.unchecked) {
    const target = { tool, toolVersion };
    return {
      kind: 'moved',
      step: startCheck(run, call, { asker: { kind: 'code' }, target, args }),
    };
  }
  const validated = emit(run, {
    type: 'validation',
    decision: toolOf(run, call.tool)?.kind === 'handoff' ? 'escalate' : 'execute',
    callId: call.id,
    tool: call.tool,
  });
  return go(validated, { ...withOutlook(call, call.check), stage: 'checked' });
}

/** Arguments that are not good, or that nobody could look at. */
export function refuseUnchecked(
  run: OpenRun,
  call: Call,
  check: Extract<CallCheck, { ok: false }>,
): Verdict {
  const { code, message } = check;
  if (code !== 'tool_unavailable') return refuse('invalid_arguments', message);
  const settled = settleCall(run, call, refusalOf(run, call, { code, message }));
  return { kind: 'moved', step: { run: settled, effects: [] } };
}

/** Station 2: are the arguments valid? The model activity ran the schema; here its word is used. */
import { emit } from '../outbox.js';
import type { OpenRun } from '../run.js';
import { withOutlook, type ProposedStage } from './call.js';
import { toolOf } from './lookup.js';
import { go, refuse, type Verdict } from './station.js';

export function check(run: OpenRun, call: ProposedStage): Verdict {
  if (!call.check.ok) return refuse('invalid_arguments', call.check.message);
  const validated = emit(run, {
    type: 'validation',
    decision: toolOf(run, call.tool)?.kind === 'handoff' ? 'escalate' : 'execute',
    callId: call.id,
    tool: call.tool,
  });
  return go(validated, { ...withOutlook(call, call.check), stage: 'checked' });
}

/** The scripted supervisor of a case: one entry for each look, which every attempt at the look gets; the last one repeats. */
import { modelFailure, type ModelReply, type ModelRequest } from '../../providers/provider.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { CaseSupervisor, ScriptedLook } from '../fixture.js';

/** Of an agent of a configuration nobody has scripted one. */
const UNSCRIPTED: ScriptedLook = {
  kind: 'answer',
  text: JSON.stringify({ decision: 'go_on', because: 'Nothing is scripted.' }),
  usage: { ...NO_USAGE, input: 1_000, output: 100 },
};

export function supervisorReply(
  supervisor: CaseSupervisor | undefined,
  { metadata, model }: ModelRequest,
): ModelReply {
  const { says = [] } = supervisor ?? {};
  const entry = says[Math.min(metadata?.call ?? 1, says.length) - 1] ?? UNSCRIPTED;
  if (entry.kind === 'error') {
    throw modelFailure('InvalidRequest', `The scripted look failed: ${entry.message}`, {
      receivedInput: false,
      receivedOutputTokensEstimate: 0,
      shouldRetry: false,
    });
  }
  const { text, usage } = entry;
  return {
    blocks: [{ type: 'text', text }],
    raw: [{ type: 'text', text }],
    stop: 'end_turn',
    usage,
    usageSource: 'reported',
    model,
    incompleteCalls: 0,
  };
}

/**
 * Station of a call whose changed arguments have been checked: what the answer means for whoever asked.
 * Invariant: arguments that were not found good are never executed.
 */
import type { OpenRun } from '../state/run.js';
import { type Asker, type RecheckedStage } from '../state/call.js';
import { refuseUnchecked } from './admission.js';
import { correct } from './correct.js';
import { resolved } from './dataflow/dataflow.js';
import { go, refuse, type StationResult, baseOf, withOutlook } from '../step/open-work.js';

export function rechecked(run: OpenRun, call: RecheckedStage): StationResult {
  const { answer, asker, target } = call;
  if (asker.kind === 'correction') return correct(run, call, asker);
  if (asker.kind === 'dataflow') return resolved(run, call);
  if (!answer.ok) {
    const message = `The arguments could not be checked: ${answer.failure.message}`;
    return refuse('execution_error', message);
  }
  const { args, digest, check } = answer.output;
  if (!check.ok) return refuseUnchecked(run, call, check);
  // Nobody has said anything of them yet.
  if (asker.kind === 'code' && asker.anew !== true)
    return go(run, { ...baseOf(call), args, digest, stage: 'proposed', check });
  const good = { ...withOutlook(call, check), ...target, args, digest, stage: 'checked' } as const;
  // Arguments that a hook changed are not shown to the hooks again.
  return go(run, asker.kind === 'hook' ? { ...good, hooked: heeded(asker) } : good);
}

function heeded({ ask }: Extract<Asker, { kind: 'hook' }>) {
  return ask === undefined ? {} : { ask };
}

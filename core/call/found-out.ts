/**
 * What became of a call of which nobody heard the end: what was found out, and what a person's word was recorded as.
 * Invariant: what comes back is recorded and decides nothing (after-return.ts).
 */
import type { ReconcileToolOutput, RecordOutcomeOutput } from '../state/effect.js';
import type { OpenRun } from '../state/run.js';
import { returned } from './execution.js';
import { tellRecovery } from './recovered.js';

export function toolReconciled(
  run: OpenRun,
  effectId: string,
  { finding, steps }: ReconcileToolOutput,
): OpenRun {
  const told = tellRecovery(run, effectId, { steps, finding: finding.kind });
  return returned(told, effectId, { fact: { kind: 'finding', finding }, attempts: 0 });
}

/** A key was revoked after the run had believed it: from now on the run knows, and asks again (after-return.ts). */
export function outcomeRecorded(
  before: OpenRun,
  id: string,
  { unproven, finding, steps }: RecordOutcomeOutput,
): OpenRun {
  const run = tellRecovery(before, id, { steps, finding: finding?.kind });
  if (finding !== undefined) {
    return returned(run, id, { fact: { kind: 'finding', finding }, attempts: 0 });
  }
  if (unproven === undefined) return returned(run, id, { attempts: 0 });
  const told = { ...run, deskKeys: unproven.deskKeys };
  return returned(told, id, { fact: { kind: 'unproven' }, attempts: 0 });
}

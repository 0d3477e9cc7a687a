/** A call's names in the ledger. */
import type { RunRef, ToolCallRef } from '../../core/state/effect.js';
import type { LedgerSubject, LedgerTarget } from '../../store/ledger.js';

export function ledgerTarget({ tenant }: RunRef, call: ToolCallRef): LedgerTarget {
  return { tenant, key: call.key, argsDigest: call.digest, attempt: call.attempt };
}

export function ledgerSubject({ runId }: RunRef, call: ToolCallRef): LedgerSubject {
  return { runId, callKey: call.callKey, tool: call.tool };
}

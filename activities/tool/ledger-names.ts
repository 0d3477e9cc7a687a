/** A call's names in the ledger. */
import type { RunRef, ToolCallRef } from '../../core/state/effect.js';
import { knownDigestOf } from '../digests.js';
import type { LedgerSubject, LedgerTarget } from '../../store/ledger.js';

export function ledgerTarget({ tenant }: RunRef, call: ToolCallRef): LedgerTarget {
  return { tenant, key: call.key, argsDigest: call.digest, attempt: call.attempt };
}

export function ledgerSubject({ runId }: RunRef, call: ToolCallRef): LedgerSubject {
  const plainDigest = knownDigestOf(call.args);
  return { runId, callKey: call.callKey, tool: call.tool, plainDigest };
}

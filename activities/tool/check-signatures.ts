/**
 * The last look at who approved, before a call is started, and at who said what became of it: with the keys
 * that count now. The run has verified the same signatures with the keys that it was told of; a key may have
 * been revoked since.
 */
import type {
  ExecuteToolInput,
  Grant,
  RecordOutcomeInput,
  RunRef,
  ToolCallRef,
} from '../../core/state/effect.js';
import type { DeskKey, SignedStatement, Statement } from '../../core/state/statement.js';
import { isSignedBy } from '../../core/ask/verify.js';
import type { ApprovalRule, ToolRecord } from '../../core/state/tool.js';
import type { InTransaction } from '../deps.js';

/** Why what the approvers signed does not carry this call; undefined: it does, or no proof is required. */
export async function objectionToSignatures(
  { store }: Pick<InTransaction, 'store'>,
  { run, call, grant }: Pick<ExecuteToolInput, 'run' | 'call' | 'grant'>,
  tool: ToolRecord,
): Promise<string | undefined> {
  if (grant.signed === undefined) {
    const isNeeded = grant.basis === 'ask' && (await requiresProof(store, run));
    return isNeeded ? 'The approval carries no signature, and this run needs one.' : undefined;
  }
  const keys = await store.deskKeys(run.tenant);
  const counting = grant.signed.filter(
    (signed) => isAbout(signed, { run, call, grant }) && isSignedBy(keys, signed),
  );
  const people = new Set(counting.map(({ statement }) => statement.by));
  const rule: ApprovalRule =
    typeof tool.approval === 'object' ? tool.approval : { roles: [], quorum: 1 };
  const { roles, quorum, escalate } = rule;
  const needed = isStanding(grant) ? 1 : quorum;
  if (people.size < needed) {
    return 'The approval is no longer proven: the key that signed it was revoked.';
  }
  // From when on a role counts that joins later, the run has checked: it knows when it asked.
  const joining = escalate?.roles ?? [];
  const wanted = roles.length === 0 ? [] : [...roles, ...joining];
  const missing =
    wanted.length > 0 && !counting.every(({ statement }) => hasRole(statement, wanted));
  return missing ? 'The approvers do not have the role that this call needs.' : undefined;
}

/** As the run's own beginning says; runs before rules 10 do not say. */
export async function requiresProof(
  store: Pick<InTransaction['store'], 'firstEvent'>,
  run: RunRef,
): Promise<boolean> {
  const first = await store.firstEvent(run);
  return first?.type === 'session_init' && first.requireProof === true;
}

/** Whether what a person signed still carries their word on what became of a call. */
export function provesOutcome(
  keys: readonly DeskKey[],
  { run, call, answer, signed = [] }: RecordOutcomeInput,
): boolean {
  return signed.some(({ statement, signature }) => {
    const { tenant, runId, askId, kind, argsHash, decision } = statement;
    const isOurs = tenant === run.tenant && runId === run.runId && kind === 'outcome';
    const isTheCall = askId.startsWith(`${runId}:${call.callKey}:`) && argsHash === call.digest;
    return isOurs && isTheCall && decision === answer && isSignedBy(keys, { statement, signature });
  });
}

interface About {
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly grant: Grant;
}

/** The run has checked what follows from a correction or a standing grant; here it is told apart by place. */
function isAbout({ statement }: SignedStatement, { run, call, grant }: About): boolean {
  if (statement.tenant !== run.tenant || statement.runId !== run.runId) return false;
  if (isStanding(grant)) return statement.decision === 'approve';
  if (statement.decision === 'approve') {
    return statement.askId === grant.reference && statement.argsHash === call.digest;
  }
  const corrects = statement.decision === 'modify' || statement.decision === 'replace';
  return corrects && statement.askId.startsWith(`${run.runId}:${call.callKey}`);
}

function isStanding(grant: Grant): boolean {
  return grant.reference.startsWith('grant:');
}

function hasRole({ roles }: Statement, needed: readonly string[]): boolean {
  return roles.some((role) => needed.includes(role));
}

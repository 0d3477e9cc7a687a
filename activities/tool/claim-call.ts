/** Claims a call in the ledger, or tells what stands there already. */
import type { ExecuteToolInput, RunRef, ToolOutcome } from '../../core/state/effect.js';
import { isChildId } from '../../pure/goal/child-start.js';
import { CLAIM_MARGIN_MS, decideClaim, type LedgerRow } from '../../pure/ledger.js';
import { retryFor } from '../../core/state/tool.js';
import { noteControlled, refusedByControls, type ControlledExecution } from './controls.js';
import { graceOf, now, type ActivityDeps, type InTransaction } from '../deps.js';
import { ledgerSubject, ledgerTarget } from './ledger-names.js';
import { mayLackRows } from '../own-store.js';
import { recordedOutcome } from './result-check.js';
import type { Scope } from '../scope.js';
import type { StoreCalls } from '../../store/store.js';
import { earlierInDoubt } from './starts.js';
import { refitText } from './store-result.js';

/** A claim that loses a race is decided anew from the row it met. */
const CLAIM_ROUNDS_MAX = 3;

const IN_DOUBT: ToolOutcome = {
  kind: 'ambiguous',
  message: 'An earlier execution under this key has an unknown outcome.',
};

const LACKING: ToolOutcome = {
  kind: 'ambiguous',
  message:
    'The ledger may lack an execution under this key: an older copy of the store has taken its place.',
};

const GIVEN_UP: ToolOutcome = {
  kind: 'error',
  code: 'not_executed',
  message: 'Not executed: the goal of this cycle has given the cycle up, and its outcome counts.',
};

/** A goal has taken the end of this cycle for known: whatever the cycle still does, it does nothing any more. */
async function isGivenUp(store: StoreCalls, { tenant, runId }: RunRef): Promise<boolean> {
  if (!isChildId(runId)) return false;
  return (await store.childRow(tenant, runId))?.state === 'sealed';
}

/** What claiming knows of the delivery that claims. */
type ClaimScope = Pick<Scope, 'effectId' | 'execution'> & {
  readonly work: Pick<Scope['work'], 'earlier'>;
};

export interface Claim {
  /** An execution before this one held the same claim. */
  readonly renewed: boolean;
  /** When whoever looks into it takes this execution for ended, ms since epoch by this worker's clock. */
  readonly until: number;
}

export type ClaimResult =
  ({ readonly claimed: true } & Claim) | { readonly claimed: false; readonly outcome: ToolOutcome };

export async function claimCall(
  deps: InTransaction,
  scope: ClaimScope,
  execution: ControlledExecution,
): Promise<ClaimResult> {
  const { store } = deps;
  const { input, runnable } = execution;
  const { run, call } = input;
  const retry = retryFor(runnable.tool.record);
  let row: LedgerRow | undefined = await store.getLedgerRow(run.tenant, call.key);
  for (let round = 0; round < CLAIM_ROUNDS_MAX; round += 1) {
    const decision = decideClaim(row, {
      ...run,
      digest: call.digest,
      attempt: call.attempt,
      retry,
    });
    if (decision.kind === 'reuse') {
      const place = { store, tenant: run.tenant, inlineBytesMax: input.inlineBytesMax };
      const result = await refitText(place, decision.result);
      return { claimed: false, outcome: recordedOutcome(result, true) };
    }
    if (decision.kind === 'key_conflict') {
      const message = 'The key was used by another call.';
      return { claimed: false, outcome: { kind: 'key_conflict', message } };
    }
    if (decision.kind === 'in_doubt') return { claimed: false, outcome: IN_DOUBT };
    if (await isGivenUp(store, run)) return { claimed: false, outcome: GIVEN_UP };
    const isLacking = lacksAttempt(row, call) && (await mayHaveHad(deps, scope, execution));
    // Where the tool recognises its key, calling it again is as safe as after any other loss.
    if (isLacking && retry !== 'same_key') {
      const told = scope.work.earlier.claimed === call.attempt && { claimed: call.attempt };
      return { claimed: false, outcome: { ...LACKING, ...told } };
    }
    const renewed = row?.state === 'claimed';
    // One moment for all of it: what is checked is what is reserved, also at midnight.
    const at = now(deps);
    const inDoubt = renewed && (await earlierInDoubt(deps, scope, execution));
    const claiming = { ...execution, claimant: scope.execution, at, renewed, inDoubt };
    const refused = await refusedByControls(deps, claiming);
    if (refused !== undefined) return { claimed: false, outcome: refused };
    const lastsMs = input.timeoutMs + graceOf(deps, input.timeoutMs) + CLAIM_MARGIN_MS;
    const attempted = await store.claim({
      ...ledgerTarget(run, call),
      ...ledgerSubject(run, call),
      claimedUntil: (await store.claimClock(at)) + lastsMs,
      sameKeyRetry: retry === 'same_key',
    });
    if (attempted.claimed) {
      if (!renewed) await noteControlled(deps, claiming);
      return { claimed: true, renewed: renewed || isLacking, until: at + lastsMs };
    }
    row = attempted.row;
  }
  return { claimed: false, outcome: IN_DOUBT };
}

/** The store has been another one since the call was handed over, or a delivery before this one had claimed it. */
async function mayHaveHad(
  deps: InTransaction,
  { work }: ClaimScope,
  { input: { run, call } }: ControlledExecution,
): Promise<boolean> {
  return work.earlier.claimed === call.attempt || mayLackRows(deps, run);
}

function lacksAttempt(row: LedgerRow | undefined, { attempt }: { attempt: number }): boolean {
  return row === undefined || row.attempt < attempt;
}

/** What the ledger knows of a call that cannot be run here; undefined: nothing was ever started. */
export async function standingOutcome(
  { store }: ActivityDeps,
  { run, call, inlineBytesMax }: ExecuteToolInput,
): Promise<ToolOutcome | undefined> {
  const row = await store.getLedgerRow(run.tenant, call.key);
  if (
    row === undefined ||
    row.argsDigest !== call.digest ||
    row.runId !== run.runId ||
    row.state === 'void'
  )
    return undefined;
  if (row.state === 'claimed' || row.result === undefined) return IN_DOUBT;
  const result = await refitText({ store, tenant: run.tenant, inlineBytesMax }, row.result);
  return recordedOutcome(result, true);
}

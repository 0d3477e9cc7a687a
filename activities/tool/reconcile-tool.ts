/**
 * reconcile_tool: what became of an attempt whose outcome nobody heard of.
 * Invariant: the attempt is burned before the tool is asked, so what the answer says stays true.
 */
import type { Tool } from '../../authoring/index.js';
import type { ReconcileToolInput, ReconcileToolOutput } from '../../core/state/effect.js';
import type { Finding } from '../../core/state/recovery.js';
import { decideReconcile, type LedgerRow, type RecordedResult } from '../../pure/ledger.js';
import type { StoredLedgerRow } from '../../store/ledger.js';
import { appendEvents } from '../run/append-events.js';
import { auditFinding } from './audit-effect.js';
import { releaseControlled } from './controls.js';
import { graceOf, now, type ActivityDeps } from '../deps.js';
import { failure } from '../failure.js';
import { findCode } from '../lacking-code.js';
import { ledgerSubject, ledgerTarget } from './ledger-names.js';
import { mayLackRows } from '../own-store.js';
import { proofsOf } from './proofs.js';
import { recordedOutcome, splitResult } from './result-check.js';
import { startTrail, type RecoveryTrail } from '../recovery-trail.js';
import { runOutside } from '../run-outside.js';
import type { Scope } from '../scope.js';
import { refitText, storeEffectResult } from './store-result.js';
import { pause, timersOf } from '../timers.js';
import { toolContext, toolFor } from './tool-call.js';
import { messageOf } from './tool-message.js';

/** Rows move forward only, so few steps lead from any row to an answer. */
const STEPS_MAX = 20;
/** Deliveries of this activity in which a probe may fail; the pauses between them are Temporal's. */
const PROBES_MAX = 3;

export async function reconcileTool(
  deps: ActivityDeps,
  scope: Scope,
  input: ReconcileToolInput,
): Promise<ReconcileToolOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const trail = startTrail(() => now(deps));
  const finding = await findOut(deps, scope, { ...input, trail });
  const { steps } = trail;
  if (finding.kind === 'not_happened') await release(deps, input);
  // What does not fit its schema proves nothing.
  if (finding.kind !== 'happened' || finding.malformed !== undefined)
    return { finding, steps, eventsUpTo };
  const proofs = await proofsOf(deps.store, input, finding.content);
  return { finding: { ...finding, ...proofs }, steps, eventsUpTo };
}

function release(deps: ActivityDeps, input: ReconcileToolInput): Promise<void> {
  return deps.store.together(async (calls) => {
    await releaseControlled(calls, input);
    const found = { outcome: 'not_happened', toldBy: 'probe' } as const;
    await auditFinding({ ...deps, store: calls }, input, found);
  });
}

/** What finding out is about, and what it has done so far. */
type Search = ReconcileToolInput & { readonly trail: RecoveryTrail };

async function findOut(deps: ActivityDeps, scope: Scope, input: Search): Promise<Finding> {
  const { store } = deps;
  const { run, call, trail } = input;
  let row = await store.getLedgerRow(run.tenant, call.key);
  const claimed = holdsClaim(row, call);
  trail.fact({ step: 'attempt_lost', attempt: call.attempt, claimed });
  const mayLack = await mayLackClaim(deps, input, row);
  if (mayLack) trail.fact({ step: 'store_restored' });
  // An earlier delivery of this activity took it away.
  if (claimed && row?.state === 'void') trail.took({ step: 'claim_burned' });
  for (let step = 0; step < STEPS_MAX; step += 1) {
    // The claim may be another worker's, whose clock is not ours (G108).
    const at = await store.claimClock(now(deps));
    const next = decideReconcile(row, { ...call, runId: run.runId }, at);
    switch (next.kind) {
      case 'happened': {
        const place = { store, tenant: run.tenant, inlineBytesMax: input.inlineBytesMax };
        trail.took({ step: 'ledger_told', answer: 'happened' });
        return found(next.source, await refitText(place, next.result));
      }
      case 'not_happened':
        // Of this attempt alone that is known.
        if (call.inDoubt || mayLack) return lost(deps, scope, input);
        trail.took({ step: 'ledger_told', answer: 'not_happened' });
        return { kind: 'not_happened' };
      case 'wait':
        if (!(await pause(timersOf(deps), Math.max(1, next.until - at), scope.signal)))
          return cutOff(scope, input);
        row = await store.getLedgerRow(run.tenant, call.key);
        break;
      case 'burn':
        row = await burn(deps, input);
        // With how long the claim was waited for.
        trail.took({ step: 'claim_burned' });
        break;
      case 'probe':
        return lost(deps, scope, input);
    }
  }
  return unknown('The ledger gave no answer.');
}

/**
 * That the ledger has no claim of this attempt says nothing: an older copy has taken the store's place. A claim that
 * was told of and is not there proves it, also for all other runs.
 */
async function mayLackClaim(
  deps: ActivityDeps,
  { run, call }: Search,
  row: StoredLedgerRow | undefined,
): Promise<boolean> {
  if (call.claimed !== true || showsClaim(row, call)) return mayLackRows(deps, run);
  if (run.store === undefined) return true;
  await deps.store.raiseEpoch({
    at: now(deps),
    by: 'holdfast',
    reason: `The ledger lacks a claim that was made in it: ${call.key} of the run ${run.runId}.`,
    from: run.store.epoch,
  });
  return true;
}

function showsClaim(row: StoredLedgerRow | undefined, call: ReconcileToolInput['call']): boolean {
  if (row === undefined || row.attempt < call.attempt) return false;
  return holdsClaim(row, call) || row.definite || row.attempt > call.attempt;
}

/** This attempt had been claimed, whatever has become of its claim. */
function holdsClaim(row: LedgerRow | undefined, call: ReconcileToolInput['call']): boolean {
  if (row === undefined || row.attempt !== call.attempt) return false;
  return row.state === 'void' ? row.wasClaimed : true;
}

function burn(deps: ActivityDeps, input: ReconcileToolInput): Promise<StoredLedgerRow> {
  const { run, call } = input;
  return deps.store.together(async (calls) => {
    const row = await calls.burn({ ...ledgerTarget(run, call), ...ledgerSubject(run, call) });
    if (row.state === 'void' && row.wasClaimed) {
      const found = { outcome: 'ambiguous', toldBy: 'nobody' } as const;
      await auditFinding({ ...deps, store: calls }, input, found);
    }
    return row;
  });
}

/** The run wants no answer any more, or only this worker has to end: then another one finds out. */
function cutOff(scope: Scope, { call }: ReconcileToolInput): Unknown {
  if (scope.stopRequested()) return unknown('Interrupted before the outcome was known.');
  const message = `The worker shut down before it knew what became of ${call.tool}.`;
  throw failure('Aborted', { message, retryable: true });
}

/** The attempt is burned, and the ledger cannot tell: what the tool declares comes next (G117). */
async function lost(deps: ActivityDeps, scope: Scope, input: Search): Promise<Finding> {
  const { call, trail } = input;
  if (input.ledgerOnly)
    return nobodyTells(trail, `No worker is there that could ask the tool ${call.tool}.`);
  const code = await findCode(deps, scope, { ...input, ...call });
  if (code.kind === 'elsewhere') throw code.refusal;
  // Whoever has another schema can still say what became of the key.
  const tool = code.kind === 'nowhere' ? toolFor(deps, call) : code.tool;
  switch (tool?.record.onLost) {
    case 'repeat_with_key':
      trail.took({ step: 'repetition_due' });
      return { kind: 'repeat' };
    case 'ask':
      return nobodyTells(trail, `The tool ${call.tool} leaves it to a person to tell.`);
    case 'probe':
    case undefined:
      return probe(deps, scope, { ...input, tool });
  }
}

type Probing = Search & { readonly tool: Tool | undefined };

async function probe(
  deps: ActivityDeps,
  scope: Scope,
  { tool, ...input }: Probing,
): Promise<Finding> {
  const { run, call, trail } = input;
  if (tool?.probe === undefined) {
    return nobodyTells(trail, `The tool ${call.tool} cannot tell whether a call took effect.`);
  }
  const parsed = tool.parse(await deps.store.restoreArguments(run.tenant, call.args));
  if (!parsed.ok) return nobodyTells(trail, parsed.message);
  const { probe: ask } = tool;
  const facts = { ...deps, run, call, attempt: call.attempt };
  const answer = await probed(deps, scope, {
    ...input,
    ask: (signal) => ask(parsed.value, toolContext(facts, signal)),
  });
  if (answer.kind === 'unknown') {
    trail.took({ step: 'probe_told', answer: 'unknown', message: answer.message });
    return answer;
  }
  const { value } = answer;
  if (value === undefined || value === null) {
    trail.took({ step: 'probe_told', answer: 'not_happened' });
    return { kind: 'not_happened' };
  }
  trail.took({ step: 'probe_told', answer: 'happened' });
  return happened(deps, input, { tool, value });
}

function nobodyTells(trail: RecoveryTrail, message: string): Finding {
  trail.took({ step: 'nobody_told', answer: 'unknown', message });
  return unknown(message);
}

type Unknown = Extract<Finding, { kind: 'unknown' }>;
type Asking = ReconcileToolInput & { readonly ask: (signal: AbortSignal) => Promise<unknown> };

async function probed(
  deps: ActivityDeps,
  scope: Scope,
  { ask, ...input }: Asking,
): Promise<Unknown | { readonly kind: 'said'; readonly value: unknown }> {
  const { timeoutMs } = input;
  const graceMs = graceOf(deps, timeoutMs);
  const ended = await runOutside(deps, scope, { run: ask, timeoutMs, graceMs });
  switch (ended.kind) {
    case 'returned':
      return { kind: 'said', value: ended.value };
    case 'threw':
      return untold(scope, `The tool could not tell: ${messageOf(ended.error)}`);
    case 'timed_out':
      return untold(scope, `The tool did not tell within ${timeoutMs} ms.`);
    case 'stopped':
      return cutOff(scope, input);
  }
}

/** What cut the call off may cut its probe off as well: it is asked again before a person is. */
function untold(scope: Scope, message: string): Unknown {
  if (scope.attempt < PROBES_MAX) throw failure('ToolRetryable', { message });
  return unknown(message);
}

interface Probed {
  readonly tool: Tool;
  readonly value: unknown;
}

async function happened(
  deps: ActivityDeps,
  input: ReconcileToolInput,
  { tool, value }: Probed,
): Promise<Finding> {
  const { store } = deps;
  const { run, call, inlineBytesMax, typed } = input;
  const place = { store, tenant: run.tenant, inlineBytesMax, ...(typed && { typed }) };
  const result = await storeEffectResult(place, tool, value);
  const recording = { ...ledgerTarget(run, call), result, source: 'probe' } as const;
  const kept = await store.together(async (calls) => {
    const recorded = await calls.recordByPerson(recording);
    const { kind: outcome } = recordedOutcome(result, false);
    const inside = { ...deps, store: calls };
    if (recorded) await auditFinding(inside, input, { outcome, toldBy: 'probe' });
    return recorded;
  });
  if (kept) return found('probe', result);
  // Somebody else has answered meanwhile: theirs is the one that counts.
  const row = await store.getLedgerRow(run.tenant, call.key);
  return found('probe', row?.result === undefined ? result : await refitText(place, row.result));
}

function found(source: 'tool' | 'probe', result: RecordedResult): Finding {
  const { failed, malformed = failed, content, attachments } = splitResult(result);
  return {
    kind: 'happened',
    source,
    content,
    ...(attachments !== undefined && { attachments }),
    ...(malformed !== undefined && { malformed }),
  };
}

function unknown(message: string): Unknown {
  return { kind: 'unknown', message };
}

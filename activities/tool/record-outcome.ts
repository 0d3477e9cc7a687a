/**
 * record_outcome: the ledger learns what a person said of a call before the run acts on it.
 * Invariant: where proofs are required, only what is signed with a key that counts now changes anything.
 */
import type { RecordOutcomeInput, RecordOutcomeOutput } from '../../core/state/effect.js';
import type { RecordedResult } from '../../pure/ledger.js';
import { appendEvents } from '../run/append-events.js';
import { provesOutcome } from './check-signatures.js';
import { auditFinding } from './audit-effect.js';
import { releaseControlled } from './controls.js';
import { now, type ActivityDeps } from '../deps.js';
import { failure } from '../failure.js';
import { ledgerSubject, ledgerTarget } from './ledger-names.js';
import { startTrail } from '../recovery-trail.js';
import { outputDefect, TOOK_EFFECT } from './result-check.js';
import { resultText } from './result-text.js';
import type { Scope } from '../scope.js';
import { toolFor } from './tool-call.js';

const CONFIRMED = 'A person confirmed that this took effect.';

export async function recordOutcome(
  deps: ActivityDeps,
  scope: Scope,
  input: RecordOutcomeInput,
): Promise<RecordOutcomeOutput> {
  const { store } = deps;
  const { run, call } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  const known = input.answer === 'happened' && (await isRecorded(deps, input));
  if (input.signed !== undefined && !known) {
    const deskKeys = await store.deskKeys(run.tenant);
    if (!provesOutcome(deskKeys, input)) return { unproven: { deskKeys }, eventsUpTo };
  }
  // Whoever still holds the attempt loses it: the person's word must stay true.
  const trail = startTrail(() => now(deps));
  trail.fact({ step: 'person_told', answer: input.answer, by: input.by });
  await store.burn({ ...ledgerTarget(run, call), ...ledgerSubject(run, call) });
  trail.took({ step: 'claim_burned' });
  if (input.answer === 'not_happened') {
    await recordNotHappened(deps, input);
    trail.took({ step: 'outcome_recorded' });
    return { steps: trail.steps, eventsUpTo };
  }
  const result = await confirmedResult(deps, input);
  await recordHappened(deps, input, result);
  trail.took({ step: 'outcome_recorded' });
  const { malformed, failed: _, ...content } = result;
  return {
    ...(malformed !== undefined && {
      finding: { kind: 'happened', source: 'person', content, malformed },
    }),
    steps: trail.steps,
    eventsUpTo,
  };
}

/** What a person gave as its result is looked at like what a tool returns; they need not give any. */
async function confirmedResult(
  deps: ActivityDeps,
  { run, call, value }: RecordOutcomeInput,
): Promise<RecordedResult> {
  const { store } = deps;
  const given = value === undefined ? undefined : resultText(value);
  const stored = await store.putText(run.tenant, given?.ok === true ? given.text : CONFIRMED);
  const tool = toolFor(deps, call);
  const defect = given && tool && outputDefect(tool, given);
  return defect === undefined ? stored : { ...stored, malformed: `${TOOK_EFFECT} ${defect}` };
}

function recordNotHappened(deps: ActivityDeps, input: RecordOutcomeInput): Promise<void> {
  return deps.store.together(async (calls) => {
    await releaseControlled(calls, input);
    const found = { outcome: 'not_happened', toldBy: 'person' } as const;
    await auditFinding({ ...deps, store: calls }, input, found);
  });
}

async function recordHappened(
  deps: ActivityDeps,
  input: RecordOutcomeInput,
  result: RecordedResult,
): Promise<void> {
  const { store } = deps;
  const { run, call } = input;
  const recording = { ...ledgerTarget(run, call), result, source: 'person' } as const;
  const kept = await store.together(async (calls) => {
    const recorded = await calls.recordByPerson(recording);
    const inside = { ...deps, store: calls };
    if (recorded) await auditFinding(inside, input, { outcome: 'ok', toldBy: 'person' });
    return recorded;
  });
  if (kept) return;
  if (await isRecorded(deps, input)) return;
  throw failure('KeyConflict', { message: `The ledger holds another call under ${call.key}.` });
}

/** Already told, by this activity before it died or by the tool itself. */
async function isRecorded(
  { store }: Pick<ActivityDeps, 'store'>,
  { run, call }: RecordOutcomeInput,
): Promise<boolean> {
  const row = await store.getLedgerRow(run.tenant, call.key);
  return row?.state === 'recorded' && row.argsDigest === call.digest;
}

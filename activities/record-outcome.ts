/** record_outcome: the ledger learns what a person said of a call before the run acts on it (design §8). */
import type { Acknowledged, RecordOutcomeInput } from '../core/effect.js';
import { appendEvents } from './append-events.js';
import type { ActivityDeps } from './deps.js';
import { failure } from './failure.js';
import { ledgerSubject, ledgerTarget } from './ledger-names.js';
import { resultText } from './result-text.js';
import type { Scope } from './scope.js';

const CONFIRMED = 'A person confirmed that this took effect.';

export async function recordOutcome(
  deps: ActivityDeps,
  scope: Scope,
  input: RecordOutcomeInput,
): Promise<Acknowledged> {
  const { store } = deps;
  const { run, call } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  // Whoever still holds the attempt loses it: the person's word must stay true.
  await store.burn({ ...ledgerTarget(run, call), ...ledgerSubject(run, call) });
  if (input.answer === 'happened') await recordHappened(deps, input);
  return { eventsUpTo };
}

async function recordHappened({ store }: ActivityDeps, input: RecordOutcomeInput): Promise<void> {
  const { run, call, value } = input;
  const text = value === undefined ? undefined : resultText(value);
  const result = await store.putText(run.tenant, text?.ok === true ? text.text : CONFIRMED);
  const target = ledgerTarget(run, call);
  if (await store.recordByPerson({ ...target, result, source: 'person' })) return;
  const row = await store.getLedgerRow(run.tenant, call.key);
  // Already told, by this activity before it died or by the tool itself.
  if (row?.state === 'recorded' && row.argsDigest === call.digest) return;
  throw failure('KeyConflict', { message: `The ledger holds another call under ${call.key}.` });
}

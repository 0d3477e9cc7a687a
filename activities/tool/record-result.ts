/** Puts the result of an effect into the ledger; the one write that is not given up at the first error. */
import type { StoredText } from '../../core/json/json.js';
import type { RecordedResult } from '../../pure/ledger.js';
import { auditEnd, isAudited } from './audit-effect.js';
import type { Claim } from './claim-call.js';
import { now, type ActivityDeps } from '../deps.js';
import type { Execution } from './execute-read.js';
import { ledgerTarget } from './ledger-names.js';
import { recordedOutcome } from './result-check.js';
import type { Scope } from '../scope.js';
import { storeEffectResult } from './store-result.js';
import { pause, timersOf } from '../timers.js';

const PAUSE_MS = 200;
const PAUSE_MS_MAX = 2_000;

interface Returned extends Execution {
  readonly claim: Pick<Claim, 'until'>;
  readonly value: unknown;
}

export type Recording =
  | { readonly kind: 'kept'; readonly result: RecordedResult }
  /** The claim was taken away meanwhile. */
  | { readonly kind: 'late'; readonly result: RecordedResult }
  /** The store cannot be written. */
  | { readonly kind: 'lost' };

export async function recordResult(
  deps: ActivityDeps,
  { input, runnable, claim, value }: Returned,
): Promise<Recording> {
  const { store } = deps;
  const { run, inlineBytesMax, typed } = input;
  const place = { store, tenant: run.tenant, inlineBytesMax, ...(typed && { typed }) };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await storeEffectResult(place, runnable.tool, value);
      const kept = await keep(deps, input, result);
      return { kind: kept ? 'kept' : 'late', result };
    } catch {
      // The effect has happened: as long as the claim stands, patience is worth more than an error.
      const pauseMs = Math.min(PAUSE_MS * attempt, PAUSE_MS_MAX);
      if (now(deps) + pauseMs >= claim.until) return { kind: 'lost' };
      await pause(timersOf(deps), pauseMs);
    }
  }
}

async function keep(
  deps: ActivityDeps,
  input: Execution['input'],
  result: RecordedResult,
): Promise<boolean> {
  const recording = { ...ledgerTarget(input.run, input.call), result, source: 'tool' } as const;
  return deps.store.together(
    async (calls) => {
      const kept = await calls.record(recording);
      if (kept && isAudited(deps, input)) {
        await auditEnd({ ...deps, store: calls }, input, recordedOutcome(result, false));
      }
      return kept;
    },
    { step: 'record', runId: input.run.runId },
  );
}

/**
 * What a claimant said of an attempt that it no longer holds: it decides nothing, but whoever looks into
 * this call has to find it.
 */
export async function keepLateWord(
  deps: ActivityDeps,
  scope: Scope,
  { input, result }: Pick<Execution, 'input'> & { readonly result: StoredText },
): Promise<void> {
  const { run, call } = input;
  const word = { ...ledgerTarget(run, call), runId: run.runId, at: now(deps), result };
  const noted = await deps.store.noteLate(word).catch(() => true);
  if (!noted) return;
  const facts = { runId: run.runId, tool: call.tool, key: call.key };
  scope.warn('A call ended after its attempt had been taken away; its result was refused.', facts);
}

/** Puts the result of an effect into the ledger; the one write that is not given up at the first error. */
import type { RecordedResult } from '../core/ledger.js';
import type { ActivityDeps } from './deps.js';
import type { Execution } from './execute-read.js';
import { ledgerTarget } from './ledger-names.js';
import { storeEffectResult } from './store-result.js';
import { pause, timersOf } from './timers.js';

const TRIES_MAX = 5;
const PAUSE_MS = 200;

/** Undefined: the claim was taken away, or the store cannot be written; the outcome is then in doubt. */
export async function recordResult(
  deps: ActivityDeps,
  { input, runnable }: Execution,
  value: unknown,
): Promise<RecordedResult | undefined> {
  const { store } = deps;
  const { run, call, inlineBytesMax, typed } = input;
  const place = { store, tenant: run.tenant, inlineBytesMax, ...(typed && { typed }) };
  for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
    try {
      const result = await storeEffectResult(place, runnable.tool, value);
      const kept = await store.record({ ...ledgerTarget(run, call), result, source: 'tool' });
      return kept ? result : undefined;
    } catch {
      // A busy or full disk: the effect has happened, so a little patience is worth more than an error.
      if (attempt < TRIES_MAX) await pause(timersOf(deps), PAUSE_MS * attempt);
    }
  }
  return undefined;
}

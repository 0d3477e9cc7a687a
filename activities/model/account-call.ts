/** account_call: what the attempts of a model call have cost, from their rows; one without an end costs its bound. */
import type { AccountCallInput, AccountCallOutput } from '../../core/state/effect.js';
import type { AttemptRow } from '../../store/attempts.js';
import { appendEvents } from '../run/append-events.js';
import type { ActivityDeps } from '../deps.js';
import { accountOf } from './model-account.js';
import { attemptsKey, type Scope } from '../scope.js';
import { pause, timersOf } from '../timers.js';

/** An attempt that Temporal has given up hears of it with its next heartbeat, and then writes its end. */
const LAST_WORD_MS = 3_000;
const LOOK_EVERY_MS = 100;

export async function accountCall(
  deps: ActivityDeps,
  scope: Scope,
  input: AccountCallInput,
): Promise<AccountCallOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const { lostCostMicroUsd, lostUsage } = accountOf(await endedRows(deps, scope, input));
  return { lostCostMicroUsd, lostUsage, eventsUpTo };
}

/** Who is alive is given the time to say how it ended; a dead worker's attempt stays without an end. */
async function endedRows(
  deps: ActivityDeps,
  scope: Scope,
  { run: { tenant, runId }, effectId }: AccountCallInput,
): Promise<readonly AttemptRow[]> {
  const key = attemptsKey(effectId, scope.execution);
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const rows = await deps.store.listAttempts(tenant, runId, key);
    if (waitedMs >= LAST_WORD_MS || rows.every(({ end }) => end !== undefined)) return rows;
    if (!(await pause(timersOf(deps), LOOK_EVERY_MS, scope.signal))) return rows;
  }
}

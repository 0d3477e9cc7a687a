/** account_call: what the attempts of a model call have cost, from their rows; one without an end costs its bound. */
import type { AccountCallInput, AccountCallOutput } from '../core/effect.js';
import { appendEvents } from './append-events.js';
import type { ActivityDeps } from './deps.js';
import { accountOf } from './model-account.js';
import { attemptsKey, type Scope } from './scope.js';

export async function accountCall(
  { store }: ActivityDeps,
  scope: Scope,
  input: AccountCallInput,
): Promise<AccountCallOutput> {
  const eventsUpTo = await appendEvents(store, scope, input);
  const { tenant, runId } = input.run;
  const key = attemptsKey(input.effectId, scope.execution);
  const rows = await store.listAttempts(tenant, runId, key);
  const { lostCostMicroUsd, lostUsage } = accountOf(rows);
  return { lostCostMicroUsd, lostUsage, eventsUpTo };
}

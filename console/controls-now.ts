/**
 * What the business controls would say of an action at this moment: a freeze that covers it, a limit that it does not
 * fit into. Informs people and binds nothing; what binds is looked at when the action is claimed.
 */
import { exceedance, type LimitRules } from '../core/controls/limits-across-runs.js';
import type { LimitsOutlook } from '../core/controls/outlook.js';
import { freezeOn, type Freeze } from '../pure/freeze.js';
import type { AskRow } from '../store/asks.js';
import type { Desk } from './desk.js';

export interface ControlsNow {
  /** The agent of the run. */
  readonly agent?: string;
  readonly frozen?: Freeze;
  /** As used up as they are now. */
  readonly limits?: LimitsOutlook;
}

export async function controlsNow(
  { store, clock }: Pick<Desk, 'store' | 'clock'>,
  ask: AskRow,
): Promise<ControlsNow> {
  const { tenant, runId, tool, outcome, kind } = ask;
  const agent = (await store.getRun(tenant, runId))?.agent;
  const named = agent !== undefined && { agent };
  const isAboutAction = kind === 'approval' || kind === 'outcome';
  if (tool === undefined || outcome !== 'pending' || !isAboutAction) return { ...named };
  const now = clock();
  const freezes = await store.freezesInForce(tenant, now);
  const frozen = freezeOn(freezes, { tool, agent: agent ?? '' }, now);
  const limits = ask.limits && (await limitsNow(store, ask, { outlook: ask.limits, now }));
  return {
    ...named,
    ...(frozen !== undefined && { frozen }),
    ...(limits !== undefined && { limits }),
  };
}

async function limitsNow(
  store: Pick<Desk['store'], 'totalsFor'>,
  { tenant, tool = '' }: AskRow,
  { outlook, now }: { readonly outlook: LimitsOutlook; readonly now: number },
): Promise<LimitsOutlook> {
  const { amount, customer } = outlook;
  const spending = { amount, ...(customer !== undefined && { customer }) };
  const totals = await store.totalsFor({ tenant, tool }, spending, now);
  const limits = outlook.limits.map((limit) => ({ ...limit, used: totals[limit.scope] }));
  const rules: LimitRules = Object.fromEntries(
    outlook.limits.map(({ scope, amount: most, count }) => [
      scope,
      { ...(most !== undefined && { amount: most }), ...(count !== undefined && { count }) },
    ]),
  );
  const exceeded = exceedance(rules, totals, spending) !== undefined;
  return { ...spending, limits, ...(exceeded && { exceeded: true as const }) };
}

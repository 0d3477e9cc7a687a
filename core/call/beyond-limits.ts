/**
 * A call of whose limits nothing is left (limitsBeforeAsk): its claim would refuse it, whatever people say.
 * Invariants: an amount that is only too large is asked about, since a person may lower it; so is what was looked at on
 * another day, or long ago. Nothing is refused so that may have begun.
 */
import {
  dayOf,
  exceedance,
  NOTHING_SPENT,
  usedUpMessage,
  type LimitRules,
  type Totals,
} from '../controls/limits-across-runs.js';
import type { LimitsOutlook, LimitStanding, Outlook } from '../controls/outlook.js';
import { countRefusedByLimits } from '../limits/observed-results.js';
import type { CheckedStage } from '../state/call.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';
import { only } from '../step/inflight.js';
import { refusalOf } from './refusal.js';
import { wasHandedOver, type StationResult } from '../step/open-work.js';
import { emit } from '../step/outbox.js';
import { settleCall } from './result.js';

/** Totals that are older bind nobody; ms. */
const FRESH_MS = 60_000;

/** Why it is refused before anybody is asked, in words for the model; undefined: it may be asked about. */
export function beyondLimits(run: OpenRun, call: CheckedStage): string | undefined {
  const { outlook } = call;
  if (outlook?.limits?.exceeded !== true || !follows(run, 'limitsBeforeAsk')) return undefined;
  if (!isFresh(run, outlook) || call.inDoubt !== undefined || wasHandedOver(call)) return undefined;
  const { limits } = outlook;
  const usedUp = { ...limits, limits: limits.limits.filter(isUsedUp) };
  const over = exceedance(rulesOf(usedUp), totalsOf(usedUp), limits);
  return over && usedUpMessage(call.tool, over);
}

/** The call gets the result that its claim would give it, and counts as one that its claim refused. */
export function refuseBeyondLimits(
  run: OpenRun,
  call: CheckedStage,
  reason: string,
): StationResult {
  const { id: callId, tool } = call;
  const told = emit(run, {
    type: 'permission',
    callId,
    tool,
    decision: 'deny',
    rule: 'limits',
    reason,
  });
  const refusal = refusalOf(told, call, { code: 'limit_exceeded', message: reason });
  const settled = settleCall(told, call, refusal);
  return { kind: 'moved', step: only(countRefusedByLimits(settled, call, refusal)) };
}

function isFresh({ now }: OpenRun, { at }: Outlook): boolean {
  return at !== undefined && Math.abs(now - at) <= FRESH_MS && dayOf(now) === dayOf(at);
}

function isUsedUp({ used, amount, count }: LimitStanding): boolean {
  return (
    (count !== undefined && used.count >= count) || (amount !== undefined && used.amount >= amount)
  );
}

function rulesOf({ limits }: LimitsOutlook): LimitRules {
  return Object.fromEntries(
    limits.map(({ scope, amount, count }) => [
      scope,
      { ...(amount !== undefined && { amount }), ...(count !== undefined && { count }) },
    ]),
  );
}

function totalsOf({ limits }: LimitsOutlook): Totals {
  const used = Object.fromEntries(limits.map(({ scope, used }) => [scope, used]));
  return {
    perCustomerAndDay: NOTHING_SPENT,
    perDay: NOTHING_SPENT,
    inAll: NOTHING_SPENT,
    ...used,
  };
}

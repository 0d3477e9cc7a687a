/** A call that is beyond the limits of its tool already: its claim would refuse it, whatever people say (limitsBeforeAsk). */
import {
  exceedance,
  limitMessage,
  NOTHING_SPENT,
  type LimitRules,
  type Totals,
} from '../controls/limits-across-runs.js';
import type { LimitsOutlook } from '../controls/outlook.js';
import type { CheckedStage } from '../state/call.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';

/** Why it is refused before anybody is asked, in words for the model; undefined: it may be asked about. */
export function beyondLimits(run: OpenRun, call: CheckedStage): string | undefined {
  const limits = call.outlook?.limits;
  if (limits?.exceeded !== true || !follows(run, 'limitsBeforeAsk')) return undefined;
  const over = exceedance(rulesOf(limits), totalsOf(limits), limits);
  return over && limitMessage(call.tool, over);
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

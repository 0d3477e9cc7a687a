/**
 * What a tool says that its calls cost, and what is charged where nobody heard it: the bound of an attempt.
 * Invariants: figures are whole micro-USD; what cannot be read counts as the bound; a delivery that ran nothing costs
 * nothing.
 */
import { isCount } from '../../core/json/count.js';
import type { ExecuteToolInput, ToolOutcome } from '../../core/state/effect.js';
import { INTERRUPTED_CODES } from '../../core/state/tool-result.js';
import type { InTransaction } from '../deps.js';
import type { Scope } from '../scope.js';

/** Of one delivery. */
export interface Meter {
  /** The tool's code is called. */
  began(): void;
  /** As `ToolContext.cost`. */
  add(microUsd: number): void;
  /** In micro-USD. `clear`: the tool itself ended, so that it has said all that it had to say. */
  charge(isClear: boolean): number;
  /** A figure was none. */
  readonly unreadable: boolean;
}

export function startMeter({ cost }: Pick<ExecuteToolInput, 'cost'>): Meter {
  const bound = cost?.each ?? 0;
  let hasBegun = false;
  let isReadable = true;
  let total = 0;
  return {
    began() {
      hasBegun = true;
    },
    add(microUsd) {
      const next = isCount(microUsd) ? total + microUsd : Number.NaN;
      if (Number.isSafeInteger(next)) total = next;
      else isReadable = false;
    },
    charge(isClear) {
      if (!hasBegun) return 0;
      return isClear && isReadable ? total : Math.max(bound, total);
    },
    get unreadable() {
      return hasBegun && !isReadable;
    },
  };
}

/** What the deliveries before this one cost: those that ended have said so, of the others the bound counts. */
export async function costBefore(
  { store }: InTransaction,
  { attempt, effectId }: Pick<Scope, 'attempt' | 'effectId'>,
  { run: { tenant, runId }, cost }: ExecuteToolInput,
): Promise<number> {
  const before = attempt - 1;
  if (before === 0) return 0;
  const rows = await store.listAttempts(tenant, runId, effectId);
  const ended = rows.filter(({ end }) => end !== undefined);
  const unheard = Math.max(0, before - ended.length);
  const said = ended.reduce((sum, { end }) => sum + (end?.costMicroUsd ?? 0), 0);
  return said + unheard * (cost?.each ?? 0);
}

/** After `spent` another attempt does not fit into what was reserved for all of them. */
export function isTooDear({ cost }: ExecuteToolInput, spent: number): boolean {
  return cost !== undefined && spent > 0 && spent + cost.each > cost.most;
}

export const TOO_DEAR: ToolOutcome = {
  kind: 'error',
  code: 'budget_exceeded',
  message: 'Not executed again: what was reserved for this call is used up.',
};

/** The tool itself said how it ended, so that what it reported is all. */
export function isClear(outcome: ToolOutcome): boolean {
  if (outcome.kind !== 'error') return outcome.kind === 'ok';
  return outcome.code !== 'timeout' && !INTERRUPTED_CODES.includes(outcome.code);
}

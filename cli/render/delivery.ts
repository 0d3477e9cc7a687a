/** What became of a decision, for whoever made it. */
import type { Delivery } from '../../client/index.js';
import type { Freeze } from '../../pure/freeze.js';
import { inert } from './inert.js';

export interface DeliveredDecision {
  readonly askId: string;
  readonly runId: string;
  /** `approved` */
  readonly verb: string;
  readonly delivery: Delivery;
  /** How many have agreed and how many have to; absent: nobody knows, or one is enough. */
  readonly agreed?: { readonly approved: number; readonly quorum: number };
  /** Of a budget: `6 s more of time`. */
  readonly allowed?: string;
  /** The decision has a name of its person's, and may be an earlier one. */
  readonly isNamed?: boolean;
  /** In the way of what was approved. */
  readonly frozen?: Freeze;
}

/** A sentence for each fact; the first line says what was delivered. */
export function deliveryLines(decided: DeliveredDecision): readonly string[] {
  const { askId, runId, delivery, frozen } = decided;
  const follow = isOfGoal(decided)
    ? `Follow the goal: holdfast goal watch ${inert(runId)}`
    : `Follow the run: holdfast watch ${inert(runId)}`;
  const lifts =
    frozen === undefined
      ? []
      : [
          `A freeze covers the call: ${inert(frozen.id)} by ${inert(frozen.by)} (${inert(frozen.reason, REASON_CHARS_MAX)}). The call is refused unless the freeze is lifted before: holdfast freeze --lift ${inert(frozen.id)}`,
        ];
  return [`${inert(askId)}: ${deliveredText(decided, delivery)} ${follow}`, ...lifts];
}

const REASON_CHARS_MAX = 300;

function isOfGoal({ askId, runId }: DeliveredDecision): boolean {
  return askId.startsWith(`${runId}:g`);
}

function deliveredText(decided: DeliveredDecision, delivery: Delivery): string {
  const { verb, agreed, allowed, isNamed } = decided;
  const { waitsFor } = delivery;
  // A hard limit of a goal may cut it.
  const isSure = delivery.delivered === 'signal' || !(isNamed || isOfGoal(decided));
  const much = allowed === undefined ? '' : inert(allowed);
  const what = much && (isSure ? `: ${much}` : ` (sent: ${much})`);
  const waits = waitsFor === undefined ? '' : `; waits for ${inert(waitsFor)}`;
  if (delivery.delivered === 'signal') {
    return delivery.storeAway === true
      ? `sent${what}. The store is away: the run says whether it counts, and its record comes when the store is back.`
      : `sent${what}${waits}. The run takes it up as soon as a worker runs.`;
  }
  const isOpen = delivery.verdict.accepted && delivery.verdict.outcome === 'pending';
  if (!isOpen) return `${verb}${what}${waits}.`;
  return agreed === undefined
    ? `${verb}${what}${waits}. More people have to decide, or the run is not there yet.`
    : `${verb}${what}${waits}. ${agreed.approved} of ${agreed.quorum} people have approved.`;
}

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
  /** Of a budget: `6 s more of time`; what was sent, and what counts: absent where nobody says. */
  readonly sent?: string | undefined;
  readonly counted?: string | undefined;
  /** In the way of what was approved. */
  readonly frozen?: Freeze;
}

/** A sentence for each fact; the first line says what was delivered. */
export function deliveryLines(decided: DeliveredDecision): readonly string[] {
  const { askId, runId, delivery, frozen } = decided;
  const isGoals = askId.startsWith(`${runId}:g`);
  const follow = isGoals
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

function deliveredText(decided: DeliveredDecision, delivery: Delivery): string {
  const { verb, agreed, sent } = decided;
  const { waitsFor } = delivery;
  const waits = waitsFor === undefined ? '' : `; waits for ${inert(waitsFor)}`;
  if (delivery.delivered === 'signal') {
    const what = sent === undefined ? '' : `: ${inert(sent)}`;
    return delivery.storeAway === true
      ? `sent${what}. The store is away: the run says whether it counts, and its record comes when the store is back.`
      : `sent${what}${waits}. The run takes it up as soon as a worker runs.`;
  }
  const what = amountText(decided);
  const isOpen = delivery.verdict.accepted && delivery.verdict.outcome === 'pending';
  if (!isOpen) return `${verb}${what}${waits}.`;
  return agreed === undefined
    ? `${verb}${what}${waits}. More people have to decide, or the run is not there yet.`
    : `${verb}${what}${waits}. ${agreed.approved} of ${agreed.quorum} people have approved.`;
}

/** A hard limit cuts an amount, and under a name that was used before the first one counts. */
function amountText({ sent, counted }: DeliveredDecision): string {
  if (sent === undefined) return '';
  const asked = ` (sent: ${inert(sent)})`;
  if (counted === undefined) return asked;
  return counted === sent ? `: ${inert(counted)}` : `: ${inert(counted)}${asked}`;
}

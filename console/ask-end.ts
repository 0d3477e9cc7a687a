/** What the end of a question says beyond its row: its run's own event tells it. */
import type { AskRow } from '../store/asks.js';
import type { DeskStore } from './desk-store.js';
import { eventsSince, resolves } from './receipt.js';

export interface AskEnd {
  /** Of a budget: how much more counts, in its own unit. Absent: a goal does not tell it. */
  readonly allowed?: number;
  /** Of a question that expired: who had approved it, where more had to. */
  readonly approvedBy?: readonly string[];
}

export async function endOf(
  store: Pick<DeskStore, 'readEvents' | 'openedSeq'>,
  ask: AskRow,
): Promise<AskEnd> {
  const { outcome, kind, quorum } = ask;
  const isExpired = outcome === 'expired';
  if (!(isExpired ? quorum > 1 : kind === 'budget' && outcome === 'approved')) return {};
  const events = await eventsSince(store, ask, (event) => resolves(event, ask));
  const end = events.find((event) => resolves(event, ask));
  if (end === undefined || end.type === 'approval_withdrawn') return {};
  if (isExpired) return end.by.length > 0 ? { approvedBy: end.by } : {};
  const amount = end.type === 'input_provided' ? end.amount : undefined;
  return amount === undefined ? {} : { allowed: amount };
}

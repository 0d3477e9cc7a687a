/**
 * Where an execution of a tool that changes something can be cut: around the claim, the effect and the
 * record, the three steps that decide what happens once. The simulation and the crash kit cut there.
 */
import type { TransactionStep } from '../store/store.js';

export type SeamPoint =
  | 'before_claim'
  | 'after_claim'
  | 'before_effect'
  | 'after_effect'
  | 'before_record'
  | 'after_record';

/** The points before and after each of those transactions, outside of it: nobody stands still inside. */
export const TRANSACTION_SEAMS: Readonly<
  Record<TransactionStep['step'], readonly [SeamPoint, SeamPoint]>
> = {
  claim: ['before_claim', 'after_claim'],
  record: ['before_record', 'after_record'],
};

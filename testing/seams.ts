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

/** The points before and after each call of the store that is one of those steps. */
export const STORE_SEAMS: ReadonlyMap<string, readonly [SeamPoint, SeamPoint]> = new Map([
  ['record', ['before_record', 'after_record']],
]);

/** The same of transactions: the points are outside of them, so that nobody stands still inside. */
export const TRANSACTION_SEAMS: Readonly<
  Record<TransactionStep['step'], readonly [SeamPoint, SeamPoint]>
> = { claim: ['before_claim', 'after_claim'] };

/**
 * Where an execution of a tool that changes something can be cut: around the claim, the effect and the
 * record, the three steps that decide what happens once. The simulation and the crash kit cut there.
 */
export type SeamPoint =
  | 'before_claim'
  | 'after_claim'
  | 'before_effect'
  | 'after_effect'
  | 'before_record'
  | 'after_record';

/** The points before and after each call of the store that is one of those steps. */
export const STORE_SEAMS: ReadonlyMap<string, readonly [SeamPoint, SeamPoint]> = new Map([
  ['claim', ['before_claim', 'after_claim']],
  ['record', ['before_record', 'after_record']],
]);

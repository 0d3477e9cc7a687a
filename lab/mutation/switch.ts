/**
 * What a place of the core asks when all sampled changes are built into one copy: as it was, or changed?
 * Invariant: while nothing is active the copy behaves as the core does; which changes would have made a difference
 * is noted, because only these can be noticed.
 */
import { appendFileSync } from 'node:fs';

/** No case asks one place this often: the change goes round for ever. */
const USES_MAX = 2_000_000;

export interface Switches {
  /** The change that is made. */
  active: number | undefined;
  /** Changes whose value was another one, at least once, since the set was emptied. */
  readonly differed: Set<number>;
  uses: number;
}

const { MUTANT, MUTANT_NOTES } = process.env;

export const switches: Switches = {
  active: MUTANT === undefined ? undefined : Number(MUTANT),
  differed: new Set(),
  uses: 0,
};

let trying = false;

/**
 * The value of a place; the copy's own text asks.
 * @public
 */
export function switched<T>(id: number, sound: () => T, changed: () => T): T {
  if (id === switches.active) {
    switches.uses += 1;
    if (switches.uses > USES_MAX) throw new Error('The change goes round for ever.');
    return changed();
  }
  const value = sound();
  if (switches.active === undefined && !trying && !switches.differed.has(id)) {
    if (triedOut(changed) !== value) note(id);
  }
  return value;
}

function triedOut(changed: () => unknown): unknown {
  trying = true;
  try {
    return changed();
  } catch {
    return switches;
  } finally {
    trying = false;
  }
}

/** A test notes into a file: tests share no memory. */
function note(id: number): void {
  switches.differed.add(id);
  if (MUTANT_NOTES === undefined) return;
  const { expect: tests } = globalThis as { expect?: { getState(): { testPath?: string } } };
  appendFileSync(MUTANT_NOTES, `${id}\t${tests?.getState().testPath ?? ''}\n`);
}

/**
 * Changes of the core after which runs are the same: nothing can notice them. Each has its reason. A change that a case
 * or a test could notice does not belong here.
 */
import type { Place } from './places.js';

interface Equivalent {
  readonly file: string;
  /** The expression before the change, on one line. */
  readonly code: string;
  readonly change: string;
  readonly why: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [];

export function equivalentOf({ file, code, change }: Place): Equivalent | undefined {
  return EQUIVALENTS.find((one) => one.file === file && one.code === code && one.change === change);
}

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

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'core/call/dataflow/dataflow-edges.ts',
    code: 'rival.index < call.index',
    change: '< to <=',
    why: 'No call is among its own rivals (rivalsOf), so both indices are never equal.',
  },
  {
    file: 'core/goal/opening.ts',
    code: 'segment.number === 0 && first !== undefined',
    change: '&& to ||',
    why: 'A goal has its start exactly until its first segment is open, and only an open goal goes on in another segment.',
  },
];

export function equivalentOf({ file, code, change }: Place): Equivalent | undefined {
  return EQUIVALENTS.find((one) => one.file === file && one.code === code && one.change === change);
}

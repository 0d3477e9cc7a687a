/**
 * A gate: one condition of completion. Gates run in the order of G77 on a reply without calls.
 * Invariants: each gate has its own retry cap; every further round costs a model call.
 */
import type { OpenRun, Turn } from '../run.js';
import type { StopReason } from '../result.js';
import type { StopWords } from '../stop.js';
import type { TransitionReason } from '../event.js';

export type GateVerdict =
  | { readonly kind: 'pass' }
  | {
      readonly kind: 'again';
      readonly run: OpenRun;
      readonly transition: TransitionReason;
      /** Said to the model as a user message; undefined: the same request again. */
      readonly prompt?: string;
    }
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly words: StopWords };

export type Gate = (run: OpenRun, turn: Turn) => GateVerdict;

export const PASS: GateVerdict = { kind: 'pass' };

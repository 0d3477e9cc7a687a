/**
 * A gate: one condition of completion. Gates run in the order of G77 on a reply without calls.
 * Invariants: each gate has its own retry cap; every further round costs a model call; a gate answers the
 * same for the same reply, so that all of them can be asked again when one has waited.
 */
import type { OpenRun, Turn, Step } from '../state/run.js';
import type { StopReason } from '../state/result.js';
import type { StopWords } from '../step/stop.js';
import type { TransitionReason } from '../state/event.js';

export type GateVerdict =
  | { readonly kind: 'pass'; readonly detail?: CompletedDetail }
  | {
      readonly kind: 'again';
      readonly run: OpenRun;
      readonly transition: TransitionReason;
      /** Said to the model as a user message; undefined: the same request again. */
      readonly prompt?: string;
    }
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly words: StopWords }
  /** A budget is used up, which a person may be asked about (G91). */
  | { readonly kind: 'exceed'; readonly reason: StopReason }
  /** Something was started whose outcome the gate needs. */
  | { readonly kind: 'start'; readonly step: Step<OpenRun> }
  | { readonly kind: 'wait' };

/** Why an answer completes its run, when that is more than being the last one. */
export type CompletedDetail = 'output' | 'token_target' | 'diminishing_returns';

export type Gate = (run: OpenRun, turn: Turn) => GateVerdict;

export const PASS: GateVerdict = { kind: 'pass' };

/**
 * A station: one arrow of a call's way (design §2), `(run, call) → go | refuse | start | wait`.
 * Invariant: a refusal is a result that the model sees, never an exception.
 */
import type { Effect } from '../state/effect.js';
import type { Step } from './inflight.js';
import type { OpenRun } from '../state/run.js';
import type { ToolResultCode } from '../state/tool-result.js';
import type { Call } from '../state/call.js';

export type Verdict =
  /** On to the next station, perhaps as a later stage. */
  | {
      readonly kind: 'go';
      readonly run: OpenRun;
      readonly call: Call;
      readonly effects?: readonly Effect[];
    }
  | {
      readonly kind: 'refuse';
      readonly code: ToolResultCode;
      readonly message: string;
      /** Ends the run (C9). */
      readonly terminal: boolean;
      /** The run with what the station has told meanwhile; undefined: as it was. */
      readonly run?: OpenRun;
      readonly effects?: readonly Effect[];
    }
  /** The call has moved and something was started, or the run has moved on otherwise. */
  | { readonly kind: 'moved'; readonly step: Step<OpenRun> }
  | { readonly kind: 'wait' };

export function go(run: OpenRun, call: Call): Verdict {
  return { kind: 'go', run, call };
}

export function refuse(
  code: ToolResultCode,
  message: string,
  terminal = false,
): Extract<Verdict, { kind: 'refuse' }> {
  return { kind: 'refuse', code, message, terminal };
}

/** Puts a call's new stage in its place. */
export function withCall(run: OpenRun, call: Call): OpenRun {
  if (run.turn === undefined) return run;
  const calls = run.turn.calls.map((other) => (other.index === call.index ? call : other));
  return { ...run, turn: { ...run.turn, calls } };
}

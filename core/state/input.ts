/**
 * Inputs: what happened. Every fact reaches the core as one of these and carries its time.
 * Invariant: inputs from outside (`decision` … `input_rejected`) are already parsed to these shapes.
 */
import type { Decision } from './ask.js';
import type {
  AccountCallOutput,
  ActivityEffect,
  CallModelOutput,
  CheckCallOutput,
  CloseRunOutput,
  CompactOutput,
  ExecuteToolOutput,
  FlushOutput,
  OpenRunOutput,
  ReconcileToolOutput,
  RecordOutcomeOutput,
  ResolveModelOutput,
  RunHooksOutput,
} from './effect.js';
import type { Failure } from './failure.js';
import type { Json } from '../json/json.js';
import type { PermissionMode } from './permission-mode.js';

interface Occurred {
  /** ms since epoch, workflow time. */
  readonly at: number;
}

interface OfEffect extends Occurred {
  /** Id of the effect that this ends. */
  readonly id: string;
}

export type EffectInput =
  | (OfEffect & { readonly type: 'run_opened'; readonly output: OpenRunOutput })
  | (OfEffect & { readonly type: 'model_replied'; readonly output: CallModelOutput })
  | (OfEffect & { readonly type: 'tool_returned'; readonly output: ExecuteToolOutput })
  | (OfEffect & { readonly type: 'tool_reconciled'; readonly output: ReconcileToolOutput })
  | (OfEffect & { readonly type: 'outcome_recorded'; readonly output: RecordOutcomeOutput })
  | (OfEffect & { readonly type: 'call_checked'; readonly output: CheckCallOutput })
  | (OfEffect & { readonly type: 'hooks_ran'; readonly output: RunHooksOutput })
  | (OfEffect & { readonly type: 'compacted'; readonly output: CompactOutput })
  | (OfEffect & { readonly type: 'model_resolved'; readonly output: ResolveModelOutput })
  | (OfEffect & { readonly type: 'call_accounted'; readonly output: AccountCallOutput })
  | (OfEffect & { readonly type: 'flushed'; readonly output: FlushOutput })
  | (OfEffect & { readonly type: 'run_closed'; readonly output: CloseRunOutput })
  | (OfEffect & { readonly type: 'timer_fired' })
  | (OfEffect & { readonly type: 'effect_failed'; readonly failure: Failure });

export type OutsideInput =
  | (Occurred & {
      readonly type: 'decision';
      readonly decision: Decision;
      readonly ticket?: string;
    })
  | (Occurred & {
      readonly type: 'input_provided';
      readonly askId: string;
      readonly value: Json;
      readonly by: string;
      readonly roles?: readonly string[];
    })
  | (Occurred & { readonly type: 'user_message'; readonly text: string; readonly id?: string })
  | (Occurred & { readonly type: 'interrupt' })
  | (Occurred & { readonly type: 'cancel_requested' })
  | (Occurred & { readonly type: 'close' })
  | (Occurred & { readonly type: 'set_model'; readonly model: string })
  | (Occurred & { readonly type: 'set_permission_mode'; readonly mode: PermissionMode })
  /** null: the model's own default. */
  | (Occurred & { readonly type: 'set_max_thinking_tokens'; readonly tokens: number | null })
  | (Occurred & {
      readonly type: 'input_rejected';
      readonly message: string;
      readonly reason: string;
    });

export type Input = EffectInput | OutsideInput | (Occurred & { readonly type: 'segment_full' });

/** The input that the outcome of an activity becomes. */
export const OUTCOME_TYPES: { readonly [kind in ActivityEffect['kind']]: EffectInput['type'] } = {
  open_run: 'run_opened',
  call_model: 'model_replied',
  execute_tool: 'tool_returned',
  reconcile_tool: 'tool_reconciled',
  record_outcome: 'outcome_recorded',
  check_call: 'call_checked',
  run_hooks: 'hooks_ran',
  compact: 'compacted',
  resolve_model: 'model_resolved',
  account_call: 'call_accounted',
  flush: 'flushed',
  close_run: 'run_closed',
};

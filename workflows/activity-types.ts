/**
 * The activities as the workflow sees them: names and payloads, no implementation.
 * The worker's implementations are checked against this by the compiler.
 */
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
} from '../core/state/effect.js';

interface Outputs {
  readonly open_run: OpenRunOutput;
  readonly call_model: CallModelOutput;
  readonly execute_tool: ExecuteToolOutput;
  readonly reconcile_tool: ReconcileToolOutput;
  readonly record_outcome: RecordOutcomeOutput;
  readonly check_call: CheckCallOutput;
  readonly run_hooks: RunHooksOutput;
  readonly compact: CompactOutput;
  readonly resolve_model: ResolveModelOutput;
  readonly account_call: AccountCallOutput;
  readonly flush: FlushOutput;
  readonly close_run: CloseRunOutput;
}

export type ActivityKind = ActivityEffect['kind'];
export type InputOf<Kind extends ActivityKind> = Extract<ActivityEffect, { kind: Kind }>['input'];
export type OutputOf<Kind extends ActivityKind> = Outputs[Kind];

export type AgentActivities = {
  readonly [Kind in ActivityKind]: (input: InputOf<Kind>) => Promise<OutputOf<Kind>>;
};

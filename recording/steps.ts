/** Steps: what a fold tells of each decision. */
import type { Effect } from '../core/state/effect.js';

/** One line of the index. */
export interface FoldStep {
  /** From 1. */
  readonly step: number;
  readonly segment: number;
  /** Event of the history at which the worker began to decide. */
  readonly eventId: number;
  /** ms since epoch, workflow time. */
  readonly at: number;
  /** What was received, in order. */
  readonly inputs: readonly StepInput[];
  /** Rules that fired, in order. */
  readonly rules: readonly string[];
  /** What was begun or cancelled, in order. */
  readonly effects: readonly StepEffect[];
  /** Events that the step emitted: numbers from the first to before the second. */
  readonly events: readonly [from: number, to: number];
}

export interface StepInput {
  readonly type: string;
  /** Effect that it ends; absent: it came from outside. */
  readonly id?: string;
}

export interface StepEffect {
  readonly kind: Effect['kind'];
  /** Of the effect; of what is cancelled. '' for a status. */
  readonly id: string;
  readonly summary: string;
  /** Of a tool's effect: its name. */
  readonly tool?: string;
  /** Of a model call: its number, from 1. */
  readonly call?: number;
}

export interface Moment<S, I> extends FoldStep {
  /** Before the inputs, and after the last rule. */
  readonly before: S;
  readonly after: S;
  readonly given: readonly I[];
  /** With their whole payloads. */
  readonly started: readonly Effect[];
}

export function inputLine(input: { readonly type: string }): StepInput {
  const { type, id } = input as { readonly type: string; readonly id?: unknown };
  return typeof id === 'string' && type !== 'user_message' ? { type, id } : { type };
}

export function effectLine(effect: Effect): StepEffect {
  const { kind } = effect;
  switch (kind) {
    case 'cancel':
      return { kind, id: effect.target, summary: `cancel ${effect.target}` };
    case 'status':
      return { kind, id: '', summary: effect.status };
    case 'start_child':
      return { kind, id: effect.id, summary: `start ${effect.child}` };
    case 'tell_parent':
      return { kind, id: effect.parent, summary: `ask ${effect.parent} for ${effect.amount}` };
    case 'tell_child':
      return { kind, id: effect.child, summary: `${effect.message} ${effect.child}` };
    case 'execute_tool':
    case 'reconcile_tool':
      return { kind, id: effect.id, summary: effect.summary, tool: effect.input.call.tool };
    case 'call_model':
      return { kind, id: effect.id, summary: effect.summary, call: effect.input.call };
    default:
      return { kind, id: effect.id, summary: effect.summary };
  }
}

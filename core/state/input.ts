/**
 * Inputs: what happened. Every fact reaches the core as one of these and carries its time.
 * Invariant: inputs from outside (`decision` … `input_rejected`) are already parsed to these shapes.
 */
import type { Attachment } from './attachment.js';
import type { Decision } from './ask.js';
import type { ACTIVITIES, ActivityKind, OutputOf } from './effect.js';
import type { Failure } from './failure.js';
import type { Json } from '../json/json.js';
import type { PermissionMode } from './permission-mode.js';
import type { RejectedMessage } from './warning.js';

interface Occurred {
  /** ms since epoch, workflow time. */
  readonly at: number;
}

interface OfEffect extends Occurred {
  /** Id of the effect that this ends. */
  readonly id: string;
}

/** The outcome of an activity, or a timer that has fired. */
export type Outcome =
  | {
      [Kind in ActivityKind]: OfEffect & {
        readonly type: (typeof ACTIVITIES)[Kind]['outcome'];
        readonly output: OutputOf<Kind>;
      };
    }[ActivityKind]
  | (OfEffect & { readonly type: 'timer_fired' })
  /** It runs, or ran before. */
  | (OfEffect & {
      readonly type: 'child_started';
      /** A workflow had the id already: it is the same child, or a stranger's. */
      readonly existed?: true;
    });

export type EffectInput =
  Outcome | (OfEffect & { readonly type: 'effect_failed'; readonly failure: Failure });

/** What is heard of the workflow of a child beside its start. */
export type ChildWord =
  /** A sub-agent says that it has ended. */
  | (Occurred & { readonly type: 'child_ended'; readonly child: string })
  /** Temporal says that it has ended; `result` is what it returned, in whatever shape. */
  | (Occurred & { readonly type: 'child_done'; readonly child: string; readonly result?: unknown })
  | MoneyAnswered;

/** To a sub-agent, or about a parent that is gone: how much more it got. `child`: its own run id; micro-USD, 0: none. */
type MoneyAnswered = Occurred & {
  readonly type: 'money_answered';
  readonly child: string;
  readonly n: number;
  readonly amount: number;
};

export type OutsideInput =
  | ChildWord
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
  | (Occurred & {
      readonly type: 'user_message';
      readonly text: string;
      readonly id?: string;
      readonly attachments?: readonly Attachment[];
    })
  /** A hint: letters lie in the store. */
  | (Occurred & { readonly type: 'mail' })
  | (Occurred & { readonly type: 'interrupt' })
  | (Occurred & { readonly type: 'cancel_requested' })
  | (Occurred & { readonly type: 'close' })
  | (Occurred & { readonly type: 'set_model'; readonly model: string })
  | (Occurred & { readonly type: 'set_permission_mode'; readonly mode: PermissionMode })
  /** A sub-agent has used up its money and asks for more, in micro-USD. */
  | (Occurred & {
      readonly type: 'money_wanted';
      readonly child: string;
      readonly n: number;
      readonly amount: number;
    })
  /** To a sub-agent: its parent hears of its end by its own word alone. */
  | (Occurred & { readonly type: 'tell_end' })
  /** To a sub-agent: modes of those above it, the nearest first. */
  | (Occurred & { readonly type: 'modes_above'; readonly modes: readonly PermissionMode[] })
  /** null: the model's own default. */
  | (Occurred & { readonly type: 'set_max_thinking_tokens'; readonly tokens: number | null })
  | (Occurred & {
      readonly type: 'input_rejected';
      readonly message: RejectedMessage;
      readonly reason: string;
    });

export type Input = EffectInput | OutsideInput | (Occurred & { readonly type: 'segment_full' });

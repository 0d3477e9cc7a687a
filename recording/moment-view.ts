/**
 * A run after one of its steps, as people look at it: what it was, what it waited for, and what came next and why.
 * Invariant: pure; texts from outside stay as they are, and whoever shows them makes them harmless.
 */
import { GOAL_RULE_LISTS } from '../core/goal/rules.js';
import { viewOfGoal } from '../core/goal/result.js';
import { viewOfRun } from '../core/loop/run-result.js';
import { RULE_LISTS } from '../core/loop/rules.js';
import type { Call } from '../core/state/call.js';
import type { Carrier } from '../core/state/carrier.js';
import type { CallModelInput } from '../core/state/effect.js';
import type { GoalView } from '../core/state/goal/view.js';
import type { RunView } from '../core/state/view.js';
import { explainRun, type Explanation } from '../pure/explain.js';
import type { Fold } from './fold.js';
import { shownReply, type ReplyView, type RequestPlace } from './reply-view.js';
import type { FoldStep } from './steps.js';

export interface RuleSaid {
  readonly rule: string;
  /** Its sentences in the reference; absent: this release does not know the rule. */
  readonly says?: string;
}

interface Decision extends Omit<FoldStep, 'rules'> {
  readonly rules: readonly RuleSaid[];
  /** The events of the step in words. */
  readonly why: readonly Explanation[];
}

export interface MomentView extends Decision {
  /** Steps of the run in all. */
  readonly steps: number;
  /** As a query would have shown it. */
  readonly view: RunView | GoalView;
  /** Calls of the reply at hand, in their order, each with how far it was. */
  readonly calls: readonly Pick<Call, 'id' | 'tool' | 'args' | 'stage'>[];
  /** The newest request to a model, begun in this step or before it; absent: none was. */
  readonly request?: RequestPlace;
  /** The newest reply since that request was begun, the step that began it included; absent: there is none. */
  readonly reply?: ReplyView;
  /** The request that the reply answers, where `request` is another one. */
  readonly answered?: RequestPlace;
  /** What the next step received, which rules fired and why; absent: this is the last. */
  readonly next?: Decision;
}

/** Errors: `StepNotFound`. */
export function momentView(fold: Fold, step: number): MomentView {
  const moment = fold.at(step);
  const { before: _, after, given: __, started: ___, ...line } = moment;
  const request = newestRequest(fold, step);
  const { reply, answered } = shownReply(fold, step, request);
  return {
    ...decisionOf(line, after),
    steps: fold.steps.length,
    view: viewAt(fold, step),
    calls: fold.kind === 'run' ? callsOf(fold.at(step).after.turn?.calls ?? []) : [],
    ...(request !== undefined && { request }),
    ...(reply !== undefined && { reply }),
    ...(answered !== undefined && { answered }),
    ...(step < fold.steps.length && { next: nextOf(fold, step + 1) }),
  };
}

/** What was asked of the model; undefined: the step has not asked one. */
export function requestBegunAt(fold: Fold, step: number): CallModelInput | undefined {
  for (const effect of fold.at(step).started) {
    if (effect.kind === 'call_model') return effect.input;
  }
  return undefined;
}

function viewAt(fold: Fold, step: number): RunView | GoalView {
  return fold.kind === 'goal' ? viewOfGoal(fold.at(step).after) : viewOfRun(fold.at(step).after);
}

function nextOf(fold: Fold, step: number): Decision {
  const { before: _, after, given: __, started: ___, ...line } = fold.at(step);
  return decisionOf(line, after);
}

function decisionOf(line: FoldStep, { outbox }: Carrier): Decision {
  const [from] = line.events;
  return {
    ...line,
    rules: line.rules.map((rule) => {
      const says = SENTENCES.get(rule);
      return { rule, ...(says !== undefined && { says }) };
    }),
    // Events leave the outbox when a later step hears that they are stored.
    why: explainRun(outbox.events.filter(({ stamp }) => stamp.seq >= from)),
  };
}

const SENTENCES: ReadonlyMap<string, string> = new Map(
  [...RULE_LISTS, ...GOAL_RULE_LISTS].flatMap(({ rules }) =>
    rules.map(({ name, says }): readonly [string, string] => [name, says]),
  ),
);

function callsOf(calls: readonly Call[]): MomentView['calls'] {
  return calls.map(({ id, tool, args, stage }) => ({ id, tool, args, stage }));
}

function newestRequest({ steps }: Fold, upTo: number): RequestPlace | undefined {
  for (let index = upTo - 1; index >= 0; index -= 1) {
    const asked = steps[index]!.effects.find(({ kind }) => kind === 'call_model');
    if (asked?.call !== undefined) return { step: index + 1, call: asked.call };
  }
  return undefined;
}

/**
 * A run's events in words: which rule decided what, and why (docs/reference/semantics.md names the rules).
 * Invariants: pure; exhaustive over the events, so that a new one cannot go unexplained; texts from outside
 * are quoted and bounded, and made harmless by whoever shows them.
 */
import { GOAL_RULE_LISTS } from '../core/goal/rules.js';
import { RULE_LISTS } from '../core/loop/rules.js';
import type { RunEvent } from '../core/state/event.js';
import { ownValue, previewOf } from '../core/json/json.js';
import { recoveryWords } from '../core/state/recovery.js';
import type { RunResult } from '../core/state/result.js';
import { endWords } from './deciders-of.js';
import { decimalOf, decimalText, shifted } from './decimal.js';
import { goalEventWords, isGoalEvent } from './goal/event-words.js';
import { plural } from './plural.js';
import { supervisionWords } from './supervision-words.js';
import { nextActionAfter, type EndedRun } from './next-action.js';
import { TRANSITIONS } from './transitions.js';

/** The station or gate that decided, or the rule where no finer name is known; 'outside' when somebody else did. */
export type Decider =
  | 'opening'
  | 'lookup'
  | 'check'
  | 'hook'
  | 'permit'
  | 'approve'
  | 'grant'
  | 'settle'
  | 'results'
  | 'gates'
  | 'truncation'
  | 'model failure'
  | 'compaction'
  | 'asking'
  | 'goal'
  | 'interrupted'
  | 'supervisor'
  | 'stop'
  | 'outside';

export interface Explanation {
  readonly seq: number;
  /** ms since epoch. */
  readonly at: number;
  /** The rule that fired, as the event says; absent: a fact told it, or the run follows rules before 5. */
  readonly rule?: string;
  /** The rule's own sentences (core/loop/rules.ts); absent: this release does not know the rule. */
  readonly says?: string;
  readonly decider: Decider;
  readonly words: string;
}

/** By rule: its row in core/loop/rules.ts. Other releases may know other rules. */
const SENTENCES: ReadonlyMap<string, string> = new Map(
  [...RULE_LISTS, ...GOAL_RULE_LISTS].flatMap(({ rules }) =>
    rules.map(({ name, says }): readonly [string, string] => [name, says]),
  ),
);

const QUOTE_CHARS = 120;

/** What the reference says of a rule; undefined: this release does not know it. */
export function sentenceOfRule(rule: string): string | undefined {
  return SENTENCES.get(rule);
}

/** One explanation for each event that tells of a decision, in order. */
export function explainRun(events: readonly RunEvent[]): readonly Explanation[] {
  return events.flatMap((event) => {
    const said = explain(event);
    if (said === undefined) return [];
    const { seq, at, rule } = event.stamp;
    const says = rule === undefined ? undefined : SENTENCES.get(rule);
    return [
      {
        seq,
        at,
        ...(rule !== undefined && { rule }),
        ...(says !== undefined && { says }),
        ...said,
      },
    ];
  });
}

type Said = Pick<Explanation, 'decider' | 'words'>;

function explain(event: RunEvent): Said | undefined {
  if (isGoalEvent(event)) return says(goalDecider(event), goalEventWords(event));
  switch (event.type) {
    case 'session_init':
      return says('opening', `began with agent ${event.agent} on ${event.model}`);
    case 'user_message':
      return says('outside', `${writerOf(event)} wrote ${quote(previewOf(event.text))}`);
    case 'model_response':
      return says('asking', modelWords(event));
    case 'model_error':
      return says(
        'model failure',
        `the model failed for good after ${plural(event.attempts, 'attempt')} with ${event.class}: ${quote(event.message)}`,
      );
    case 'retry':
      return says('asking', `attempt ${event.attempt} of the model call, after ${event.class}`);
    case 'tombstone':
      return says('model failure', `took ${event.targetMessageId} back: ${quote(event.reason)}`);
    case 'compact_boundary':
      return says(
        'compaction',
        `summarised the conversation (${event.trigger}): ${event.preTokens} to ${event.postTokens} tokens`,
      );
    case 'hook':
      return says('hook', hookWords(event));
    case 'interruption':
      return says('interrupted', `${interrupter(event)} asked to ${event.by}`);
    case 'supervision':
      return says('supervisor', supervisionWords(event, quote));
    case 'stop':
      return says('stop', stopWords(event));
    case 'transition':
      return event.reason === 'next_turn' ? undefined : wentOn(event.reason);
    case 'tool_reconciled':
      return says('settle', `what became of ${event.tool}: ${recoveryText(event)}`);
    case 'warning':
      return says('outside', `noticed ${event.code}: ${quote(event.message)}`);
    case 'tool_note':
    case 'tool_results_message':
    case 'run_result':
      return undefined;
    default:
      return explainCall(event);
  }
}

/** Other releases may know other reasons. */
function wentOn(reason: Of<'transition'>['reason']): Said {
  const meaning = ownValue(TRANSITIONS, reason);
  return meaning === undefined
    ? says('outside', `went on (${reason})`)
    : says(transitionDecider(reason), `went on: ${meaning.words} (${reason})`);
}

function writerOf({ from }: Of<'user_message'>): string {
  return from === undefined
    ? 'the user'
    : `the agent ${quote(`${from.agent}`)} of run ${quote(`${from.run}`)}`;
}

function interrupter({ supervisor }: Of<'interruption'>): string {
  return supervisor === undefined ? 'a person' : `the supervisor ${quote(supervisor)}`;
}

function goalDecider(event: RunEvent): Decider {
  return event.type === 'handoff' && event.run !== undefined ? 'opening' : 'goal';
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type CallEvent =
  | Of<'validation'>
  | Of<'permission'>
  | Of<'approval_requested'>
  | Of<'approval_escalated'>
  | Of<'decision_recorded'>
  | Of<'approval_resolved'>
  | Of<'approval_withdrawn'>
  | Of<'input_request'>
  | Of<'input_provided'>
  | Of<'tool_started'>
  | Of<'tool_finished'>;

function explainCall(event: CallEvent): Said | undefined {
  switch (event.type) {
    case 'validation':
      return validationWords(event);
    case 'permission':
      return says(
        'permit',
        `${PERMISSIONS[event.decision]} ${event.tool} by ${event.rule}${because(event.reason)}`,
      );
    case 'approval_requested':
    case 'input_request':
      return says(
        'approve',
        `asked ${event.roles.join(' or ') || 'a person'} (${event.kind}) about ${event.tool ?? 'the run'}`,
      );
    case 'approval_escalated':
      return says('approve', `nobody has decided: ${event.roles.join(' or ')} may as well now`);
    case 'decision_recorded':
      return says('outside', `${event.by} said ${event.decision} on ${event.askId}`);
    case 'approval_resolved':
      return says(
        'approve',
        `the approval of ${event.tool ?? event.askId} is ${event.outcome}${endWords(event)}${because(event.reason)}`,
      );
    case 'approval_withdrawn':
      return says('approve', `withdrew the question ${event.askId}${because(event.reason)}`);
    case 'input_provided':
      return says('approve', `the question ${event.askId} is ${event.outcome}${endWords(event)}`);
    case 'tool_started':
      return says('grant', `handed ${event.tool} to its executor under key ${event.key}`);
    case 'tool_finished':
      return says('settle', finishedWords(event));
  }
}

const PERMISSIONS = {
  allow: 'allowed',
  deny: 'denied',
  ask: 'wants a person to decide on',
  sandbox: 'allowed in its sandbox',
} as const;

function modelWords(event: Of<'model_response'>): string {
  const calls = event.calls.map((call) => call.tool);
  const what = calls.length === 0 ? 'answered' : `proposed ${calls.join(', ')}`;
  const { clearedTokens: cleared } = event;
  const without =
    cleared === undefined ? '' : `; the vendor left ${cleared} tokens of the conversation out`;
  return `model call ${event.call} ${what} (${event.stopReason})${without}`;
}

function hookWords(event: Of<'hook'>): string {
  const about = event.tool === undefined ? '' : ` on ${event.tool}`;
  return `${event.name} hook ${event.hook}${about}: ${event.outcome}${because(event.message)}`;
}

function validationWords(event: Of<'validation'>): Said | undefined {
  const about = event.tool === undefined ? 'the reply' : event.tool;
  if (event.decision === 'final') return says('gates', 'took the reply as the answer');
  if (event.decision === 'escalate') return says('check', `${about} hands the task to a person`);
  if (event.decision === 'execute') return undefined;
  const code = event.code === undefined ? '' : ` (${event.code})`;
  const decider = event.tool === undefined ? 'gates' : 'lookup';
  return says(decider, `refused ${about}${code}${because(event.message)}`);
}

function finishedWords(event: Of<'tool_finished'>): string {
  if (event.hosted) return `the vendor ran ${event.tool}: ${event.status}`;
  const cost = costWords(event.costMicroUsd);
  if (event.status === 'ok') {
    const after = event.attempts === 1 ? '' : ` after ${event.attempts} attempts`;
    return `${event.tool} succeeded${after}${cost}`;
  }
  const how = event.started ? 'failed' : 'did not run';
  const why = because(previewOf(event.content));
  return `${event.tool} ${how}${cost}: ${event.code ?? event.status}${why}`;
}

const MICRO_DIGITS = 6;

function costWords(microUsd: number | undefined): string {
  const usd = decimalOf(microUsd);
  if (usd === undefined) return '';
  return ` and cost $${decimalText(shifted(usd, -MICRO_DIGITS), 2)}`;
}

function recoveryText({ steps }: Of<'tool_reconciled'>): string {
  return steps.map((step) => `${recoveryWords(step)}${tookWords(step.durationMs)}`).join('; ');
}

function tookWords(ms: number | undefined): string {
  if (ms === undefined) return '';
  return ms < 1_000 ? ` (${ms} ms)` : ` (${(ms / 1_000).toFixed(1)} s)`;
}

function stopWords(event: Of<'stop'>): string {
  const detail = event.detail === undefined ? '' : `, ${event.detail}`;
  const phase = event.phase === undefined ? '' : ` while in ${event.phase}`;
  return `stopped with ${event.reason}${detail}${phase}`;
}

function transitionDecider(reason: Of<'transition'>['reason']): Decider {
  switch (reason) {
    case 'next_turn':
      return 'results';
    case 'max_output_tokens_recovery':
    case 'max_tokens_compact_retry':
    case 'pause_turn_resume':
      return 'truncation';
    case 'reactive_compact_retry':
    case 'proactive_compact':
      return 'compaction';
    case 'model_fallback':
      return 'model failure';
    case 'continued_as_new':
      return 'opening';
    default:
      return 'gates';
  }
}

/** What a person should do now. */
export function nextActionOf(result: RunResult, run: EndedRun): string {
  return nextActionAfter(result, run) ?? 'Nothing: the run completed.';
}

function says(decider: Decider, words: string): Said {
  return { decider, words };
}

function because(reason: string | undefined): string {
  return reason === undefined || reason === '' ? '' : `: ${quote(reason)}`;
}

function quote(text: string): string {
  return `“${text.length > QUOTE_CHARS ? `${text.slice(0, QUOTE_CHARS)}…` : text}”`;
}

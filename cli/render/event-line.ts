/** One event as one line. Exhaustive over the vocabulary, so that a new event cannot be forgotten. */
import { HANDOFF_TOOL } from '../../core/state/handoff.js';
import type { Attachment } from '../../core/state/attachment.js';
import type { RunEvent } from '../../core/state/event.js';
import { previewOf, type StoredText } from '../../core/json/json.js';
import { recoveryWords } from '../../core/state/recovery.js';
import { goalEventWords, isGoalEvent } from '../../pure/goal/event-words.js';
import { supervisionWords } from '../../pure/supervision-words.js';
import { agentPathText } from '../../pure/agent-path.js';
import { endWords } from '../../pure/deciders-of.js';
import { plural } from '../../pure/plural.js';
import { countText, durationText, relativeText, timeText, usdText } from './amounts.js';
import { inert, inertInline } from './inert.js';
import { PLAIN, type Paint } from './paint.js';

export interface EventLineOptions {
  readonly paint?: Paint;
  /** Of a sub-agent: the agents from the root to it, both among them. */
  readonly path?: readonly string[];
}

const SEQ_WIDTH = 4;
const LABEL_WIDTH = 10;
const TEXT_CHARS_MAX = 160;
const ARGS_CHARS_MAX = 160;
const RECOVERY_CHARS_MAX = 300;

/** `12:20:03    7 tool       payments.issue_refund {…}` */
export function eventLine(event: RunEvent, options: EventLineOptions = {}): string {
  const { paint = PLAIN, path = [] } = options;
  const { label, text } = describe(event, paint);
  const head = `${timeText(event.stamp.at)} ${String(event.stamp.seq).padStart(SEQ_WIDTH)}`;
  // Under the call that it works on.
  const under = '  '.repeat(Math.max(0, path.length - 1));
  const whose = path.length === 0 ? '' : `${paint.cyan(inert(agentPathText(path)))} `;
  return `${paint.dim(head)} ${under}${label.padEnd(LABEL_WIDTH)} ${whose}${text}`;
}

/** Events that say nothing to somebody who only wants to see how it goes. */
export function isDetail(event: RunEvent): boolean {
  switch (event.type) {
    case 'tool_results_message':
    case 'transition':
      return true;
    case 'validation':
      return event.decision === 'execute' || event.decision === 'final';
    case 'permission':
      return event.decision === 'allow';
    // Of goals: the end of the cycle has named the progress, and the result follows.
    case 'progress_noted':
    case 'goal_result':
      return true;
    default:
      return false;
  }
}

interface Description {
  readonly label: string;
  readonly text: string;
}

function saidText({ from, text, attachments }: Of<'user_message'>): Description {
  return from === undefined
    ? { label: 'user', text: `${quote(text)}${filesText(attachments)}` }
    : { label: 'letter', text: `${inert(from.agent)}: ${quote(text)}` };
}

/** By name and type: the bytes lie in the store. */
function filesText(attachments: readonly Attachment[] = []): string {
  if (attachments.length === 0) return '';
  const named = attachments.map(({ name, mediaType }) =>
    inert(name === undefined ? mediaType : `${name} (${mediaType})`),
  );
  return `, with ${named.join(', ')}`;
}

/** A run shares the event of a handoff with goals. */
function labelOf(event: RunEvent): string {
  const isOfRun = event.type === 'handoff' && (event.run ?? event.started) !== undefined;
  return isOfRun ? 'handoff' : 'goal';
}

function describe(event: RunEvent, paint: Paint): Description {
  if (isGoalEvent(event)) return { label: labelOf(event), text: inert(goalEventWords(event)) };
  switch (event.type) {
    case 'session_init':
      return {
        label: 'start',
        text: `${inert(event.agent)} on ${inert(event.model)}: ${quote(event.goal)}${filesText(event.attachments)}${forkText(event)}${handedText(event)}`,
      };
    case 'user_message':
      return saidText(event);
    case 'model_response':
      return { label: 'model', text: modelText(event, paint) };
    case 'model_error':
      return { label: 'model', text: paint.red(failureText(event)) };
    case 'validation':
    case 'permission':
      return checkText(event, paint);
    case 'approval_requested':
    case 'approval_escalated':
    case 'input_request':
    case 'decision_recorded':
    case 'approval_resolved':
    case 'approval_withdrawn':
    case 'input_provided':
      return askText(event, paint);
    case 'tool_started':
    case 'tool_note':
      return { label: 'tool', text: callText(event, paint) };
    case 'tool_finished':
      return { label: 'result', text: toolText(event, paint) };
    case 'tool_reconciled':
      return { label: 'reconcile', text: paint.yellow(recoveryText(event)) };
    case 'tool_results_message':
      return { label: 'results', text: `${countText(event.callIds.length)} to the model` };
    case 'warning':
      return warningText(event, paint);
    case 'transition':
      return { label: 'next', text: paint.dim(event.reason) };
    case 'hook':
      return { label: 'hook', text: hookText(event, paint) };
    case 'compact_boundary':
    case 'tombstone':
      return { label: 'context', text: contextText(event) };
    case 'retry':
      return { label: 'model', text: `attempt ${event.attempt} after ${inert(event.class)}` };
    case 'interruption':
    case 'supervision':
      return intervention(event, paint);
    case 'stop':
      return { label: 'stop', text: stopText(event, paint) };
    case 'run_result':
      return { label: 'result', text: endText(event) };
    default:
      return ofLaterRelease(event);
  }
}

function callText(event: Of<'tool_started' | 'tool_note'>, paint: Paint): string {
  return event.type === 'tool_started'
    ? `${inert(event.tool)} ${args(event.args)}`
    : paint.dim(`${inert(event.tool)} says ${inert(event.message)}`);
}

function endText({ result }: Of<'run_result'>): string {
  return `${result.status}, ${usdText(result.costMicroUsd)}`;
}

function failureText({ class: code, attempts, message }: Of<'model_error'>): string {
  return `${inert(code)} after ${plural(attempts, 'attempt')}: ${inert(message)}`;
}

function intervention(event: Of<'interruption' | 'supervision'>, paint: Paint): Description {
  if (event.type === 'supervision') {
    return { label: 'supervisor', text: supervisionWords(event, inert) };
  }
  const { by, supervisor } = event;
  const who = supervisor === undefined ? 'a person' : `the supervisor ${inert(supervisor)}`;
  return { label: 'stop', text: paint.yellow(`${who} asked to ${by}`) };
}

/** The compiler knows no such event; a run of a newer worker does, and is shown all the same. */
function ofLaterRelease(event: never): Description {
  return { label: 'event', text: inert((event as RunEvent).type) };
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

function warningText({ code, message }: Of<'warning'>, paint: Paint): Description {
  return { label: 'warning', text: paint.yellow(`${inert(code)}: ${paint.own(inert(message))}`) };
}

function contextText(event: Of<'compact_boundary'> | Of<'tombstone'>): string {
  return event.type === 'tombstone'
    ? `${inert(event.targetMessageId)} removed: ${inert(event.reason)}`
    : `summarised, ${countText(event.preTokens)} to ${countText(event.postTokens)} tokens`;
}

function hookText(event: Of<'hook'>, paint: Paint): string {
  const about = event.tool === undefined ? '' : ` on ${inert(event.tool)}`;
  const why = event.message === undefined ? '' : `: ${inert(event.message)}`;
  const text = `${event.name} ${inert(event.hook)}${about} says ${event.outcome}${why}`;
  return event.outcome === 'error' ? paint.yellow(text) : text;
}

function modelText(event: Of<'model_response'>, paint: Paint): string {
  const calls = event.calls.map((call) => `${inert(call.tool)} ${args(call.args)}`);
  const cost = `${plural(event.usage.output, 'token')}, ${usdText(event.costMicroUsd)}`;
  return [
    ...(event.text === undefined ? [] : [quote(event.text)]),
    ...(calls.length === 0 ? [] : [`wants ${calls.join('; ')}`]),
    ...(event.partial ? [paint.yellow('(cut off)')] : []),
    paint.dim(`(${cost})`),
  ].join(' ');
}

function checkText(event: Of<'validation'> | Of<'permission'>, paint: Paint): Description {
  const tool = event.tool === undefined ? '' : ` ${inert(event.tool)}`;
  if (event.type === 'permission') {
    const reason = event.reason === undefined ? '' : `: ${inert(event.reason)}`;
    const text = `${event.decision}${tool} by ${inert(event.rule)}${reason}`;
    return { label: 'policy', text: event.decision === 'deny' ? paint.red(text) : text };
  }
  const why = event.message === undefined ? '' : `: ${inert(event.message)}`;
  const code = event.code === undefined ? '' : ` (${event.code})`;
  const text = `${event.decision}${tool}${code}${why}`;
  return { label: 'check', text: event.decision === 'deny' ? paint.red(text) : text };
}

type AskEvent =
  | Of<'approval_requested'>
  | Of<'approval_escalated'>
  | Of<'input_request'>
  | Of<'decision_recorded'>
  | Of<'approval_resolved'>
  | Of<'approval_withdrawn'>
  | Of<'input_provided'>;

function askText(event: AskEvent, paint: Paint): Description {
  const label = event.type.startsWith('input') ? 'question' : 'approval';
  switch (event.type) {
    case 'approval_requested':
    case 'input_request': {
      if (event.kind === 'user_message') return { label: 'user', text: 'may write now' };
      // What a question of no call is about, it says itself.
      const isCall = event.tool !== undefined || event.question === undefined;
      const what = [
        event.tool === undefined ? '' : inert(event.tool),
        event.args === undefined || !isCall ? '' : args(event.args),
        event.question === undefined ? '' : inert(event.question, TEXT_CHARS_MAX),
      ].filter((part) => part !== '');
      const until = relativeText(event.expiresAt, event.stamp.at);
      const text = `wanted for ${what.join(' ')}; expires ${until}; ${inert(event.askId)}`;
      return { label, text: paint.yellow(text) };
    }
    case 'approval_escalated': {
      const roles = event.roles.map((role) => inert(role)).join(' or ');
      return { label, text: paint.yellow(`still open: ${roles} may decide as well now`) };
    }
    case 'decision_recorded':
      return { label, text: `${inert(event.by)} said ${event.decision}; ${inert(event.askId)}` };
    case 'approval_resolved': {
      const by = byText(event);
      const reason = event.reason === undefined ? '' : `: ${inert(event.reason)}`;
      const { corrected, outcome } = event;
      const wanted =
        corrected === undefined ? '' : ` to ${inert(corrected.tool)} ${args(corrected.args)}`;
      const text = `${outcome}${wanted}${by} after ${durationText(event.waitedMs)}${reason}`;
      const isNo = outcome === 'rejected' || outcome === 'expired';
      return { label, text: isNo ? paint.red(text) : paint.green(text) };
    }
    case 'approval_withdrawn':
      return { label, text: `withdrawn: ${inert(event.reason)}` };
    case 'input_provided': {
      const by = byText(event);
      const more = event.amount === undefined ? '' : `, ${countText(event.amount)} more`;
      return { label, text: `${event.outcome}${by}${more}` };
    }
  }
}

/** Who decided, behind the outcome. */
export function byText(end: Parameters<typeof endWords>[0]): string {
  return endWords(end, (name) => inert(name));
}

function toolText(event: Of<'tool_finished'>, paint: Paint): string {
  // No tool runs for a handoff that is made: what was skipped is its code.
  if (event.tool === HANDOFF_TOOL && event.status === 'skipped' && event.code === undefined)
    return `${HANDOFF_TOOL} ${paint.green('done')} ${quote(event.content)}`;
  const code = event.code === undefined ? '' : ` ${event.code}`;
  const idle = event.hosted ? ', run by the vendor' : ', not started';
  const took = event.started ? `, ${durationText(event.durationMs)}` : idle;
  const attempts = event.attempts > 1 ? `, ${event.attempts} attempts` : '';
  const cost = event.costMicroUsd === undefined ? '' : `, ${usdText(event.costMicroUsd)}`;
  const status = `${event.status}${code}`;
  const paintStatus = event.status === 'ok' ? paint.green : paint.red;
  const facts = paint.dim(`${took}${attempts}${cost}`);
  const files = filesText(event.attachments);
  return `${inert(event.tool)} ${paintStatus(status)} ${quote(event.content)}${files}${facts}`;
}

function recoveryText({ tool, steps }: Of<'tool_reconciled'>): string {
  const words = steps.map((step) => {
    const took = step.durationMs === undefined ? '' : ` (${durationText(step.durationMs)})`;
    return `${inert(recoveryWords(step), RECOVERY_CHARS_MAX)}${took}`;
  });
  return `${inert(tool)}: ${words.join('; ')}`;
}

function stopText(event: Of<'stop'>, paint: Paint): string {
  const detail = event.detail === undefined ? '' : `: ${inert(event.detail)}`;
  const phase = event.phase === undefined ? '' : ` (${inert(event.phase)})`;
  const text = `${inert(event.reason)}${phase}${detail}`;
  return event.reason === 'completed' ? paint.green(text) : paint.yellow(text);
}

function quote(text: StoredText): string {
  return `“${inert(previewOf(text), TEXT_CHARS_MAX)}”`;
}

function args(value: unknown): string {
  return inertInline(value, ARGS_CHARS_MAX);
}

function handedText({ handedFrom }: Extract<RunEvent, { type: 'session_init' }>): string {
  if (handedFrom === undefined) return '';
  return `, handed over by ${inert(handedFrom.agent)} of run ${inert(handedFrom.runId)}`;
}

function forkText({ forked }: Extract<RunEvent, { type: 'session_init' }>): string {
  return forked === undefined ? '' : `, a fork of ${inert(forked.runId)} after step ${forked.step}`;
}

/** What a tool answered to one recorded call, as a result that a tool of a case gives. */
import type { Json } from '../../core/json/json.js';
import type { ElsewhereReason, OutputOf, ToolCallRef } from '../../core/state/effect.js';
import type { Finding } from '../../core/state/recovery.js';
import { INTERRUPTED_CODES } from '../../core/state/tool-result.js';
import type { WrittenResult } from '../format/tools.js';
import { ofKind, outputOf, type Activity, type Recording } from './recording.js';
import { refused } from './refused.js';
import { questionIn } from './served-tools.js';
import type { Texts } from './texts.js';

type ToolOutcome = OutputOf<'execute_tool'>['outcome'];

export interface AskingCall {
  readonly recording: Recording;
  readonly activity: Activity;
  readonly texts: Texts;
  readonly call: ToolCallRef;
}

export interface Answer {
  readonly result: WrittenResult;
  /** What earlier attempts said. */
  readonly before?: readonly WrittenResult[];
  readonly leftOut?: string;
}

/** Undefined: the tool was not asked, or what it said is not known. */
export function answerOf(asked: AskingCall): Answer | undefined {
  const { activity } = asked;
  const { end } = activity;
  const output = outputOf(activity, 'execute_tool');
  if (output !== undefined) return ofOutcome(asked, output);
  switch (end.kind) {
    case 'open':
      return { result: { hang: true } };
    case 'cancelled':
      return { result: { hang: true } };
    case 'lost':
      return inDoubt(asked, 'The worker of the call was lost.');
    default:
      return end.kind === 'failed' && end.type !== 'NotServed'
        ? inDoubt(asked, end.message)
        : undefined;
  }
}

function ofOutcome(
  asked: AskingCall,
  { outcome, costMicroUsd, attempts }: OutputOf<'execute_tool'>,
): Answer | undefined {
  const { callId, tool } = asked.call;
  switch (outcome.kind) {
    case 'ok': {
      const cost = costMicroUsd !== undefined && costMicroUsd > 0 ? { costMicroUsd } : {};
      return {
        result: { ok: valueOf(asked.texts.text(outcome.content), outcome.content), ...cost },
      };
    }
    case 'error':
      return ofError(asked, { ...outcome, attempts });
    case 'ambiguous':
      if (outcome.aborted === true) return { result: { hang: true } };
      return inDoubt(asked, outcome.message);
    case 'repeats':
      throw refused(
        `the call ${callId} of ${tool} repeated an earlier effect, and only a store knows earlier effects`,
      );
    case 'key_conflict':
      throw refused(`the key of the call ${callId} of ${tool} was taken by another call`);
    case 'input_required': {
      const isRedacted = asked.recording.bundle.redactions.length > 0;
      const result = questionIn(outcome, asked.call, { texts: asked.texts, isRedacted });
      return result && { result };
    }
    case 'schema_changed':
      return undefined;
    case 'elsewhere':
      return ofElsewhere(outcome.reason);
  }
}

/** A quick attempt without an answer: the next one follows. */
function ofElsewhere(reason: ElsewhereReason): Answer | undefined {
  if (reason === 'timeout') return { result: { hang: true } };
  if (reason === 'failed') return { result: { retryable_error: 'The tool failed.' } };
  return undefined;
}

function ofError(
  { texts, call: { tool, callId } }: AskingCall,
  outcome: Extract<ToolOutcome, { kind: 'error' }> & { readonly attempts: number },
): Answer | undefined {
  const { code, message, returned, attempts } = outcome;
  if (INTERRUPTED_CODES.includes(code)) return { result: { hang: true } };
  switch (code) {
    case 'execution_error':
      return { result: { error: message } };
    case 'retryable_error':
      return { result: { retryable_error: message } };
    case 'timeout':
      return { result: { timeout: true } };
    case 'tool_unavailable':
      return { result: { error: message.replace(/^tool_unavailable: /, ''), code } };
    case 'frozen':
    case 'limit_exceeded':
      return { result: { error: message, code }, before: failedAttempts(attempts) };
    case 'not_executed':
      return undefined;
    case 'malformed_result':
      if (returned === undefined)
        throw refused(
          `what ${tool} returned to the call ${callId} was not kept (${message.replace(/\.$/, '')})`,
        );
      return { result: { unfit: valueOf(texts.text(returned), returned) } };
    default:
      throw refused(
        `the call ${callId} of ${tool} ended with ${code}, which no tool of a case can say`,
      );
  }
}

/** What they said is not recorded: another attempt followed each of them. */
function failedAttempts(count: number): readonly WrittenResult[] {
  return Array.from({ length: Math.min(count, ATTEMPTS_MAX) }, () => ({
    retryable_error: 'An earlier attempt failed.',
  }));
}

const ATTEMPTS_MAX = 100;

/** What was found out without a person stands in place of the doubt; else the case has the doubt, and the person. */
function inDoubt(asked: AskingCall, message: string): Answer | undefined {
  const found = findingOf(asked);
  if (found === undefined || found.kind === 'unknown' || found.kind === 'repeat') {
    return { result: { throws: message } };
  }
  const leftOut = 'nobody heard how an attempt ended; the case has what was found out of it';
  if (found.kind === 'not_happened') {
    const result = endedWithNothing(asked);
    return result && { result, leftOut };
  }
  if (found.source === 'person') return { result: { throws: message } };
  if (found.malformed !== undefined) throw refused('a result did not fit its output schema');
  return { result: { ok: valueOf(asked.texts.text(found.content), found.content) }, leftOut };
}

/** No attempt did anything, and no further one was made: the result of the call says so. */
function endedWithNothing(asked: AskingCall): WrittenResult | undefined {
  const { recording, activity, texts, call } = asked;
  const isFurther = ofKind(recording, 'execute_tool').some(
    ({ activity: { from }, input }) => from > activity.from && input.call.callKey === call.callKey,
  );
  const told = recording.bundle.events.find(
    (event) => event.type === 'tool_finished' && event.key === call.key,
  );
  if (isFurther || told?.type !== 'tool_finished' || told.code !== 'execution_error')
    return undefined;
  return { error: texts.text(told.content) };
}

function findingOf({ recording, activity, call: { callKey } }: AskingCall): Finding | undefined {
  const later = ofKind(recording, 'reconcile_tool').find(
    ({ activity: { from }, input }) => from > activity.from && input.call.callKey === callKey,
  );
  return later && outputOf(later.activity, 'reconcile_tool')?.finding;
}

/** A text that is exactly the JSON of a value is the value: output schemas and evidence look into it. */
export function valueOf(text: string, stored: { readonly json?: true }): Json {
  const value = parsed(text);
  if (value === undefined) return text;
  return stored.json === true || typeof value === 'object' ? value : text;
}

function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

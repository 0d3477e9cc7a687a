/**
 * A call of kind 'human_input': the model asks a person, and the answer is the call's result (G15).
 * Invariants: nothing is executed; an asked question counts as an input request, answered or not, never as
 * a tool call; unanswered in time, the run needs a person.
 */
import type { Ask } from '../state/ask.js';
import { closeAsk, openAsk } from '../ask/open-ask.js';
import { refusalOf } from './refusal.js';
import {
  askById,
  keyOf,
  withCall,
  type StationResult,
  baseOf,
  revisedKey,
  outcomeOf,
} from '../step/open-work.js';
import { ownValue, type Json } from '../json/json.js';
import type { OpenRun, Step } from '../state/run.js';
import { stop } from '../step/stop.js';
import { type AskingStage, type GrantedStage } from '../state/call.js';
import { toolOf } from '../permission/permission.js';
import { settleCall } from './result.js';
import { givenText } from '../dataflow/state.js';

const QUESTION_CHARS_MAX = 2_000;

/** Opens the question. */
export function askPerson(run: OpenRun, call: GrantedStage): Step<OpenRun> {
  const plain = `${run.runId}:${revisedKey(call)}`;
  // A hook may have wanted a person's word on the question itself.
  const askId = askById(run, plain) === undefined ? plain : `${plain}:input`;
  const asked = openAsk(run, {
    id: askId,
    kind: 'input',
    callKey: call.callKey,
    callId: call.id,
    tool: call.tool,
    toolVersion: call.toolVersion,
    args: call.args,
    question: questionOf(call.args),
    digest: call.digest,
    ...answerersOf(run, call),
    quorum: 1,
    expiresInMs: run.frozen.settings.inputTimeoutMs,
    onExpiry: 'stop',
  });
  const asking: AskingStage = { ...baseOf(call), stage: 'asking', askId, askedAt: run.now };
  return { run: withCall(asked.run, asking), effects: asked.effects };
}

/** Whose answer counts. A run that works for nobody by name has no customer to wait for. */
export function answerersOf(
  run: OpenRun,
  { tool }: Pick<GrantedStage, 'tool'>,
): Pick<Ask, 'roles' | 'answeredBy' | 'requestedBy'> {
  const rule = toolOf(run, tool)?.answeredBy;
  const { caller } = run.start.task;
  if (rule === undefined || (rule === 'customer' && caller === undefined)) return { roles: [] };
  return {
    roles: typeof rule === 'object' ? rule.roles : [],
    answeredBy: rule === 'customer' ? 'customer' : 'staff',
    ...(caller !== undefined && { requestedBy: caller }),
  };
}

/** Station of an asked question: has somebody answered? */
export function hear(run: OpenRun, call: AskingStage): StationResult {
  const ask = askById(run, call.askId);
  if (ask === undefined) return { kind: 'wait' };
  const outcome = outcomeOf(ask);
  if (outcome === 'pending') return { kind: 'wait' };
  return { kind: 'moved', step: outcome === 'answered' ? answered(run, call) : silence(run, call) };
}

function answered(run: OpenRun, call: AskingStage): Step<OpenRun> {
  const value = askById(run, call.askId)?.votes.at(-1)?.value ?? null;
  const closed = closeAsk(run, call.askId, { outcome: 'answered' });
  if (call.exchange !== undefined && call.grant !== undefined) {
    const { exchange, grant } = call;
    const on: GrantedStage = {
      ...baseOf(call),
      attempt: call.attempt + 1,
      answered: { exchange, answer: value },
      stage: 'granted',
      grant,
    };
    return { run: withCall(closed.run, on), effects: closed.effects };
  }
  const settled = settleCall(closed.run, call, {
    callId: call.id,
    status: 'ok',
    isError: false,
    content: givenText(call, value),
    synthetic: false,
    started: false,
    durationMs: run.now - call.askedAt,
    attempts: 0,
    idempotencyKey: keyOf(run, call),
  });
  return { run: settled, effects: closed.effects };
}

function silence(run: OpenRun, call: AskingStage): Step<OpenRun> {
  const closed = closeAsk(run, call.askId, { outcome: 'expired' });
  const message = 'Nobody answered in time.';
  const code = call.exchange === undefined ? 'not_executed' : 'execution_error';
  const refusal = refusalOf(run, call, { code, message });
  const stopped = stop(settleCall(closed.run, call, refusal), 'needs_human', {
    detail: 'user_input_required',
    nextSafeAction: `Answer the question, then start again: ${questionOf(call.args)}`.slice(0, 500),
  });
  return { run: stopped, effects: closed.effects };
}

/** The text named 'question', else all that the model gave. */
function questionOf(args: Json): string {
  const named =
    typeof args === 'object' && args !== null && !Array.isArray(args)
      ? ownValue(args as { readonly [key: string]: Json }, 'question')
      : args;
  const text = typeof named === 'string' ? named : JSON.stringify(args);
  return text.slice(0, QUESTION_CHARS_MAX);
}

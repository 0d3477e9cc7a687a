/** From the written script to the one that engines play: defaults applied, forms told apart by `kind`. */
import type { Json } from '../core/json/json.js';
import { NO_USAGE, type Usage } from '../core/state/model.js';
import type { PolicyCondition } from '../core/state/policy.js';
import type { WrittenAnswer, WrittenCall, WrittenFailure, WrittenReply } from './format/replies.js';
import type { WrittenResult } from './format/tools.js';
import type { ScriptedResult } from './fixture.js';
import type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedError,
  ScriptedReply,
  ServerQuestions,
  ServerResult,
} from './script.js';

const DEFAULT_USAGE: Usage = { ...NO_USAGE, input: 1_000, output: 100 };

export function usageOf(written: Partial<Usage> | undefined): Usage {
  return { ...DEFAULT_USAGE, ...written };
}

export function scriptOf(replies: readonly WrittenReply[]): Script {
  return replies.map((written) => {
    let times = 1;
    let one = written;
    while ('repeat' in one) {
      times = Math.min(times * one.repeat, Number.MAX_SAFE_INTEGER);
      one = one.reply;
    }
    return { times, reply: replyOf(one) };
  });
}

function replyOf(written: WrittenAnswer | WrittenFailure): ScriptedReply {
  return 'error' in written ? failureOf(written) : answerOf(written);
}

function failureOf(written: WrittenFailure): ScriptedReply {
  const { after, delayMs = 0 } = written;
  return {
    kind: 'error',
    error: errorOf(written.error),
    ...(after !== undefined && {
      after: {
        ...(after.text !== undefined && { text: after.text }),
        calls: (after.calls ?? []).map(callOf),
      },
    }),
    delayMs,
  };
}

function errorOf(written: WrittenFailure['error']): ScriptedError {
  return 'kind' in written ? { kind: written.kind } : { kind: 'status', ...written };
}

export function answerOf(written: WrittenAnswer): ScriptedAnswer {
  const { calls = [], usage, delayMs = 0, stopReason, output, ...rest } = written;
  const complete = calls.some((call) => call.incomplete !== true);
  return {
    kind: 'answer',
    ...rest,
    calls: calls.map(callOf),
    stopReason: stopReason ?? (complete ? 'tool_use' : 'end_turn'),
    usage: usageOf(usage),
    ...(output !== undefined && { output: output as Json }),
    delayMs,
  };
}

function callOf(written: WrittenCall): ScriptedCall {
  const { input, when, incomplete, ...rest } = written;
  return {
    ...rest,
    incomplete: incomplete === true,
    ...(input !== undefined && { input: input as Json }),
    ...(when !== undefined && { when: when as PolicyCondition }),
  };
}

export function resultsOf(written: readonly WrittenResult[]): readonly ScriptedResult[] {
  return written.map(toolResultOf);
}

export function toolResultOf(written: WrittenResult): ScriptedResult {
  const { delayMs = 0 } = written;
  if ('ok' in written) {
    const { costMicroUsd, notes, files } = written;
    const cost = costMicroUsd !== undefined && { costMicroUsd };
    const said = notes !== undefined && { notes };
    const beside = files !== undefined && { files };
    return { kind: 'ok', value: written.ok as Json, delayMs, ...cost, ...said, ...beside };
  }
  if ('unfit' in written) return { kind: 'unfit', value: (written.unfit ?? null) as Json, delayMs };
  if ('error' in written) {
    const { error: message, code } = written;
    return { kind: 'error', message, delayMs, ...(code !== undefined && { code }) };
  }
  if ('throws' in written) return { kind: 'throws', message: written.throws, delayMs };
  if ('retryable_error' in written) {
    return { kind: 'retryable_error', reason: written.retryable_error, delayMs };
  }
  if ('timeout' in written) return { kind: 'timeout', delayMs };
  if ('hang' in written) return { kind: 'hang', delayMs };
  if ('lost' in written) return { kind: 'lost', when: written.lost, delayMs };
  if (!('status' in written)) return { ...serverResultOf(written), delayMs };
  const { status, reason = status, output } = written;
  switch (status) {
    case 'ok':
      return { kind: 'ok', value: (output ?? written.reason ?? null) as Json, delayMs };
    case 'error':
      return { kind: 'error', message: reason, delayMs };
    case 'retryable_error':
      return { kind: 'retryable_error', reason, delayMs };
  }
}

type WrittenServerResult = Extract<
  WrittenResult,
  | { input_required: unknown }
  | { refused: unknown }
  | { malformed: unknown }
  | { oversized: unknown }
>;

function serverResultOf(written: WrittenServerResult): ServerResult {
  if ('input_required' in written) {
    const { questions, state } = written.input_required;
    return {
      kind: 'input_required',
      questions: questions as ServerQuestions,
      ...(state !== undefined && { state }),
    };
  }
  if ('refused' in written) return { kind: 'refused', message: written.refused };
  if ('oversized' in written) return { kind: 'oversized', chars: written.oversized };
  return { kind: 'malformed', result: (written.malformed ?? null) as Json };
}

/** Names of the tools that replies call, broken-off ones included. */
export function toolsNamedIn(script: Script): readonly string[] {
  return script.flatMap(({ reply }) => {
    const calls = reply.kind === 'answer' ? reply.calls : (reply.after?.calls ?? []);
    return calls.map((call) => call.tool);
  });
}

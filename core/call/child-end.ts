/**
 * How a sub-agent ended, by what its workflow returned: the result of its call without a look into the store.
 * Invariants: a value that is no result of a sealed sub-agent says nothing, and neither does one of which the store has
 * more than the value; the sub-agent is then looked at in the store.
 */
import { isRecord } from '../json/shape.js';
import { textFitsBytes, type StoredText } from '../json/json.js';
import type { ChildWord, OutsideInput } from '../state/input.js';
import type { Usage } from '../state/model.js';
import type { ChildEnd } from '../state/payloads/child-payloads.js';
import type { RunResult, StopReason } from '../state/result.js';
import { isOpen, type OpenRun, type Run, type Step } from '../state/run.js';
import type { RunChild } from '../state/run-child.js';
import type { ToolResultCode } from '../state/tool-result.js';
import { cancelTimer, only } from '../step/inflight.js';
import * as watch from '../step/watch-child.js';
import { callOf, childEnded, ended, withChild } from './child-facts.js';
import { inlineBytesFor } from './execution.js';
import { moneyAnswered, moneyWanted } from './more-money.js';

type Word = ChildWord | Extract<OutsideInput, { type: 'tell_end' | 'money_wanted' }>;

/** Fact: a sub-agent has ended, or this one is to say so itself. */
export function heardOfTree(run: Run, word: Word): Run {
  switch (word.type) {
    case 'child_ended':
      return childEnded(run, word.child);
    case 'child_done':
      return childDone(run, word);
    case 'money_wanted':
      return moneyWanted(run, word);
    case 'money_answered':
      return moneyAnswered(run, word);
    case 'tell_end':
      return { ...run, tellsEnd: true };
  }
}

type Returned = Extract<ChildWord, { type: 'child_done' }>;

/** Temporal says that its workflow has ended. */
function childDone(run: Run, { child: id, result }: Returned): Run {
  const child = run.children?.find((one) => one.child === id && one.stage !== 'preparing');
  if (child === undefined || !isOpen(run)) return run;
  const done = endOf(run, child, result);
  return withChild(run, done === undefined ? watch.saidToEnd(child) : { ...child, done });
}

/** Its call has its outcome: no look is ahead. */
export function takeEnd(run: OpenRun, child: RunChild, end: ChildEnd): Step<OpenRun> {
  const untimed = child.look === undefined ? only(run) : cancelTimer(run, child.look.timer);
  return { run: ended(untimed.run, child, end), effects: untimed.effects };
}

function endOf(run: OpenRun, child: RunChild, returned: unknown): ChildEnd | undefined {
  if (!isSealedResult(returned)) return undefined;
  const said = saidBy(run, child, returned);
  if (said === undefined) return undefined;
  const { stopReason, detail, costMicroUsd, usage, counters } = returned;
  return {
    stopReason,
    ...(detail !== undefined && { detail }),
    ...said,
    costMicroUsd,
    usage,
    activeMs: counters.activeMs,
  };
}

function saidBy(
  run: OpenRun,
  child: RunChild,
  result: RunResult,
): Pick<ChildEnd, 'content' | 'code'> | undefined {
  const { completed, answer, output, partialOutput } = result;
  if (!completed) {
    const text = partialOutput === undefined ? '' : inlineText(partialOutput);
    if (text === undefined) return undefined;
    return {
      content: { text: unfinished(child.name, result, text) },
      code: codeFor(result.stopReason),
    };
  }
  // Its own gate has checked an answer that has a value.
  const isUnchecked =
    run.frozen.agents?.[child.name]?.outputSchema !== undefined && output === undefined;
  if (isUnchecked) return undefined;
  if (answer === undefined) return { content: { text: '' } };
  const text = inlineText(answer);
  const call = callOf(run, child);
  const room = call === undefined ? 0 : inlineBytesFor(run, call);
  return text !== undefined && !textFitsBytes(text, room) ? undefined : { content: answer };
}

function inlineText(text: StoredText): string | undefined {
  return 'text' in text ? text.text : undefined;
}

const WORDS_MAX = 1_500;

/** What the model is told of a sub-agent that did not complete, with what it said last. */
export function unfinished(
  name: string,
  { stopReason, detail }: Pick<RunResult, 'stopReason' | 'detail'>,
  said: string,
): string {
  const why = detail === undefined ? stopReason : `${stopReason} (${detail})`;
  const last = said.trim() === '' ? '' : ` The last words were: ${said.slice(0, WORDS_MAX)}`;
  return `The sub-agent ${name} did not finish: ${why}.${last}`;
}

const CODES: { readonly [reason in StopReason]?: ToolResultCode } = {
  interrupted: 'interrupted_mid_execution',
  aborted: 'interrupted_mid_execution',
  timeout: 'timeout',
  max_cost: 'budget_exceeded',
  max_turns: 'budget_exceeded',
  max_tool_calls: 'budget_exceeded',
  max_input_tokens: 'budget_exceeded',
  max_output_tokens: 'budget_exceeded',
  invalid_output: 'malformed_result',
  tool_unavailable: 'tool_unavailable',
};

export function codeFor(reason: StopReason): ToolResultCode {
  return CODES[reason] ?? 'execution_error';
}

/** Whatever a workflow returned: nothing but a whole result is believed. */
function isSealedResult(value: unknown): value is RunResult {
  if (!isRecord(value)) return false;
  const { sealed, stopReason, detail, completed, costMicroUsd, usage, counters } = value as Partial<
    Record<keyof RunResult, unknown>
  >;
  return (
    sealed === true &&
    typeof stopReason === 'string' &&
    typeof completed === 'boolean' &&
    (detail === undefined || typeof detail === 'string') &&
    isCount(costMicroUsd) &&
    isUsage(usage) &&
    isRecord(counters) &&
    isCount((counters as { activeMs?: unknown }).activeMs) &&
    [value['answer'], value['partialOutput']].every(isText)
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isUsage(value: unknown): boolean {
  const parts: readonly (keyof Usage)[] = ['input', 'output', 'cacheRead', 'cacheWrite'];
  return isRecord(value) && parts.every((part) => isCount(value[part]));
}

function isText(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isRecord(value)) return false;
  return typeof value['text'] === 'string' || typeof value['$blob'] === 'string';
}

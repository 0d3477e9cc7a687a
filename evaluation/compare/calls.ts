/** Judges what became of tool calls: their results, their executions, their effects. */
import { sha256Hex, type Json } from '../../core/json/json.js';
import type { SeenExecution } from '../engine.js';
import type { Expected } from '../fixture.js';
import {
  difference,
  equal,
  isSame,
  NO_DIFFERENCE,
  wholeText,
  type Difference,
} from './difference.js';
import type { Seen } from './seen.js';
import { ofType } from './trail.js';

const SHOWN_CHARS = 200;

type WantedResult = NonNullable<Expected['results']>[string];

export function judgeResults(
  wanted: NonNullable<Expected['results']>,
  seen: Seen,
): readonly Difference[] {
  return Object.entries(wanted).flatMap(([id, expected]) => judgeResult(id, expected, seen));
}

/** A flag that a result does not carry counts as false. */
function judgeResult(id: string, wanted: WantedResult, seen: Seen): readonly Difference[] {
  const path = `results.${id}`;
  const finished = ofType(seen.trail.events, 'tool_finished').findLast(
    (event) => event.callId === id,
  );
  if (finished === undefined) return difference(path, wanted as Json, 'no result');
  const shown = shownResult(id, seen);
  const { contains, sha256, ...flags } = wanted;
  const observed = {
    status: finished.status,
    isError: shown?.isError ?? finished.status === 'error',
    code: finished.code,
    synthetic: finished.synthetic,
    started: finished.started,
  };
  const text = shown?.text ?? wholeText(finished.content) ?? '';
  return [
    ...(Object.keys(flags) as (keyof typeof flags)[]).flatMap((flag) => {
      const expected = flags[flag];
      return expected === undefined ? [] : equal(`${path}.${flag}`, expected, observed[flag]);
    }),
    ...(sha256 === undefined ? [] : judgeDigest(`${path}.sha256`, sha256, text)),
    ...[contains ?? []].flat().flatMap((piece) => {
      return text.includes(piece) ? [] : difference(`${path}.contains`, piece, text);
    }),
  ];
}

/** For texts that are too long to stand in a case; the beginning tells a person what came instead. */
function judgeDigest(path: string, wanted: string, text: string): readonly Difference[] {
  const digest = sha256Hex(text);
  return digest === wanted
    ? NO_DIFFERENCE
    : difference(path, wanted, `${digest}: ${text.slice(0, SHOWN_CHARS)}`);
}

/** The newest copy that the model has seen or would see next; compaction may have removed the last. */
function shownResult(id: string, { observation }: Seen) {
  const transcripts = [
    ...observation.requests.map((request) => request.messages),
    observation.transcript,
  ];
  for (const messages of transcripts.toReversed()) {
    const results = messages.flatMap((message) => message.results);
    const found = results.findLast((result) => result.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function judgeResultOrder(
  wanted: readonly (readonly string[])[],
  { trail }: Seen,
): readonly Difference[] {
  const order = ofType(trail.events, 'tool_results_message').map((event) => event.callIds);
  return equal('result_order', wanted, order);
}

type WantedExecution = NonNullable<Expected['executed']>[number];

/** The whole list: nothing may be missing from it, nothing may be more. */
export function judgeExecuted(
  wanted: readonly WantedExecution[],
  seen: Seen,
): readonly Difference[] {
  const executions = meant(wanted, seen);
  const length = Math.max(wanted.length, executions.length);
  return Array.from({ length }).flatMap((_, index) => {
    const path = `executed[${index}]`;
    const [expected, execution] = [wanted[index], executions[index]];
    if (expected === undefined) return difference(path, 'nothing more', shown(execution));
    if (execution === undefined) return difference(path, expected as Json, 'nothing more');
    return judgeExecution(path, expected, execution);
  });
}

/** Who names no call of a sub-agent speaks of what the tools did. */
function meant(
  wanted: readonly WantedExecution[],
  { observation: { executions }, fixture: { tools } }: Seen,
): readonly SeenExecution[] {
  const starts = (tool: string): boolean => tools.get(tool)?.kind === 'subagent';
  if (wanted.some(({ tool }) => starts(tool))) return executions;
  return executions.filter(({ tool }) => !starts(tool));
}

function judgeExecution(
  path: string,
  wanted: WantedExecution,
  execution: SeenExecution,
): readonly Difference[] {
  const { callId, tool, key, input, sandbox } = execution;
  const holds =
    wanted.tool === tool &&
    (wanted.call === undefined || wanted.call === callId) &&
    (wanted.key === undefined || wanted.key === key) &&
    (wanted.sandbox === undefined || wanted.sandbox === sandbox) &&
    (wanted.input === undefined || isSame(wanted.input as Json, input));
  return holds ? NO_DIFFERENCE : difference(path, wanted as Json, shown(execution));
}

function shown(execution: SeenExecution | undefined): Json | undefined {
  if (execution === undefined) return undefined;
  const { callId, tool, key, input, sandbox } = execution;
  return { call: callId, tool, key, input, sandbox };
}

export function judgeAttempts(
  wanted: { readonly [call: string]: number },
  { observation: { executions } }: Seen,
): readonly Difference[] {
  return Object.entries(wanted).flatMap(([id, attempts]) => {
    const own = executions.filter((execution) => execution.callId === id);
    return equal(`attempts.${id}`, attempts, attemptsOf(own));
  });
}

function attemptsOf(executions: readonly SeenExecution[]): number {
  return executions.reduce((sum, execution) => sum + execution.attempts, 0);
}

export function judgeEffects(
  wanted: { readonly [tool: string]: number },
  { observation: { effects } }: Seen,
): readonly Difference[] {
  return Object.entries(wanted).flatMap(([tool, times]) =>
    equal(`effects.${tool}`, times, Object.hasOwn(effects, tool) ? effects[tool] : 0),
  );
}

export function judgeForbiddenTools(
  wanted: readonly string[],
  { observation: { executions } }: Seen,
): readonly Difference[] {
  return wanted.flatMap((tool) => {
    const execution = executions.find((one) => one.tool === tool);
    return execution === undefined
      ? NO_DIFFERENCE
      : difference('forbidden_tools', `${tool} never executed`, `call ${execution.callId}`);
  });
}

export function judgeMaxToolCalls(wanted: number, seen: Seen): readonly Difference[] {
  const attempts = attemptsOf(meant([], seen));
  return attempts <= wanted
    ? NO_DIFFERENCE
    : difference('max_tool_calls', { lte: wanted }, attempts);
}

export function judgeMaxInFlight(wanted: number, seen: Seen): readonly Difference[] {
  return equal('max_in_flight', wanted, seen.observation.maxInFlight);
}

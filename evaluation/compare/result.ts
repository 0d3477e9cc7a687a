/** Judges what the result says. */
import { stopReasonAs } from '../dialects.js';
import type { Json } from '../../core/json/json.js';
import type { Counters, RunResult } from '../../core/state/result.js';
import type { Expected } from '../fixture.js';
import { PLAIN_COUNTERS, type Count } from '../format/expected.js';
import { difference, equal, NO_DIFFERENCE, wholeText, type Difference } from './difference.js';
import type { Seen } from './seen.js';
import { hasStopReason } from './stop-reason.js';
import { ofType } from './trail.js';

export function judgeStopReason(
  wanted: string,
  { fixture, observation: { result } }: Seen,
): readonly Difference[] {
  const { dialect } = fixture.expected;
  if (result !== undefined && hasStopReason(result, wanted, dialect)) return NO_DIFFERENCE;
  return difference('stop_reason', wanted, result && reasonInWords(result, dialect));
}

function reasonInWords(result: RunResult, dialect: Expected['dialect']): string {
  const { stopReason, detail } = result;
  const projected = dialect === undefined ? stopReason : stopReasonAs(result, dialect);
  const canonical = projected === stopReason ? '' : ` = ${stopReason}`;
  return `${projected}${canonical}${detail === undefined ? '' : ` (${detail})`}`;
}

/** Where the run was stopped: the result's own phase, or the loop's when it took the decision. */
export function judgePhase(wanted: string, { observation, trail }: Seen): readonly Difference[] {
  const stop = ofType(trail.events, 'stop').at(-1);
  const interruption = ofType(trail.events, 'interruption').at(-1);
  const loop = [stop?.stamp.phase, interruption?.stamp.phase];
  const phases: readonly unknown[] = [observation.result?.phase, stop?.phase, ...loop];
  return phases.includes(wanted)
    ? NO_DIFFERENCE
    : difference('phase', wanted, observation.result?.phase);
}

type Field = (result: RunResult) => Json | undefined;

/** A judge that compares one field of the result as JSON. */
export function field(path: string, read: Field) {
  return (wanted: unknown, { observation: { result } }: Seen): readonly Difference[] =>
    equal(path, wanted as Json, result && read(result));
}

export const partialOutputOf: Field = (result) => wholeText(result.partialOutput);

/** Null: a run without an answer, or no run at all. */
export function judgeAnswer(
  wanted: string | null,
  { observation: { result } }: Seen,
): readonly Difference[] {
  const answer = wholeText(result?.answer);
  if (wanted !== null) return equal('answer', wanted, answer);
  return answer === undefined ? NO_DIFFERENCE : difference('answer', 'none', answer);
}

export function judgeNextSafeAction(
  wanted: string | true,
  { observation: { result } }: Seen,
): readonly Difference[] {
  const action = result?.nextSafeAction;
  if (wanted !== true) return equal('next_safe_action', wanted, action);
  return action ? NO_DIFFERENCE : difference('next_safe_action', 'present', action);
}

type WantedCounters = NonNullable<Expected['counters']>;

export function judgeCounters(
  wanted: WantedCounters,
  { observation: { result } }: Seen,
): readonly Difference[] {
  const counters = result?.counters;
  const plain = PLAIN_COUNTERS.flatMap((name) =>
    judgeCount(`counters.${name}`, wanted[name], counters?.[name]),
  );
  const { compactions = {}, usage = {} } = wanted;
  return [
    ...plain,
    ...(['proactive', 'reactive'] as const).flatMap((kind) =>
      judgeCount(`counters.compactions.${kind}`, compactions[kind], counters?.compactions[kind]),
    ),
    ...(['in', 'out', 'cacheR', 'cacheW'] as const).flatMap((name) =>
      judgeCount(`counters.usage.${name}`, usage[name], counters && usageOf(counters)[name]),
    ),
  ];
}

function usageOf({ usage }: Counters) {
  const { input, output, cacheRead, cacheWrite } = usage;
  return { in: input, out: output, cacheR: cacheRead, cacheW: cacheWrite };
}

export function judgeCount(
  path: string,
  wanted: Count | undefined,
  observed: number | undefined,
): readonly Difference[] {
  if (wanted === undefined) return NO_DIFFERENCE;
  if (typeof wanted === 'number') return equal(path, wanted, observed);
  const { lte = Number.POSITIVE_INFINITY, gte = Number.NEGATIVE_INFINITY } = wanted;
  const holds = observed !== undefined && observed <= lte && observed >= gte;
  return holds ? NO_DIFFERENCE : difference(path, { ...wanted }, observed);
}

/** Error codes are compared by their words: `invalid_task` is `InvalidTask`. */
export function judgeStartError(
  wanted: string,
  { observation: { startError } }: Seen,
): readonly Difference[] {
  if (startError !== undefined && inWords(startError.code) === inWords(wanted))
    return NO_DIFFERENCE;
  return difference('start_error', wanted, startError?.code ?? 'the run started');
}

function inWords(code: string): string {
  return code.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

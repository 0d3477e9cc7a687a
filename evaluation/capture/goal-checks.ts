/**
 * What the checks of a recorded goal gave, as the script of a case. The record of a check has its number and which
 * conditions held by it; a result that says exactly this stands in the case where the text itself is not in the bundle.
 */
import type { HoldfastError } from '../../core/state/errors.js';
import type { Json } from '../../core/json/json.js';
import { isRecord } from '../../core/json/shape.js';
import type { CheckDefinition, DoneCondition } from '../../core/state/goal/definition.js';
import type { RunCheckOutput } from '../../core/state/goal/payloads.js';
import { conditionsOf, heldByCheck, measured } from '../../pure/goal/conditions.js';
import type { FixtureDocument } from '../format/document.js';
import type { WrittenResult } from '../format/tools.js';
import { ofGoalKind, type GoalRecording } from './goal-recording.js';
import { refused } from './refused.js';
import { valueOf } from './tool-answers.js';

/** The number of a run comes from a file. */
const CHECK_RUNS_MAX = 10_000;

type Checks = NonNullable<FixtureDocument['checks']>;

export interface CapturedChecks {
  /** By name, an entry for each run of the check. */
  readonly checks: Checks;
  readonly leftOut: readonly string[];
}

export function checkScripts(recording: GoalRecording): CapturedChecks {
  const { goal } = recording.start;
  const made = new Set<string>();
  const scripts = (goal.validation ?? []).flatMap((check): [string, WrittenResult[]][] => {
    const runs = new Map<number, WrittenResult>();
    for (const { activity, input, output } of ofGoalKind(recording, 'run_check')) {
      if (input.name !== check.name) continue;
      const { end } = activity;
      if (output !== undefined) {
        const given = resultOf(recording, check, output);
        if (given.isMade) made.add(check.name);
        runs.set(input.n, given.result);
      } else if (end.kind === 'failed' || end.kind === 'lost') {
        runs.set(input.n, { throws: end.message || 'The worker of the check was lost.' });
      } else {
        runs.set(input.n, { hang: true });
      }
    }
    const count = [...runs.keys()].reduce((most, n) => Math.max(most, n), 0);
    if (count > CHECK_RUNS_MAX) throw tooManyRuns(check.name);
    if (count === 0) return [];
    const missing: WrittenResult = { error: 'This run of the check is not recorded.' };
    return [[check.name, Array.from({ length: count }, (_, n) => runs.get(n + 1) ?? missing)]];
  });
  return {
    checks: Object.fromEntries(scripts),
    leftOut: [...made].map(
      (name) =>
        `the texts of the check ${name}: the case has results with the same number, by which the same conditions hold`,
    ),
  };
}

function tooManyRuns(name: string): HoldfastError {
  return refused(`its check ${name} has more than ${CHECK_RUNS_MAX} runs`);
}

interface Given {
  readonly result: WrittenResult;
  /** It was not recorded word for word. */
  readonly isMade?: true;
}

function resultOf(
  { bundle, start }: GoalRecording,
  check: CheckDefinition,
  output: RunCheckOutput,
): Given {
  if (!output.known) return { result: failureOf(output.because ?? 'The result is not known.') };
  const text = output.digest === undefined ? undefined : bundle.blobs[output.digest];
  if (text !== undefined) return { result: { ok: valueOf(text, {}) } };
  return { result: { ok: madeOf(conditionsOf(start.goal.done), check, output) }, isMade: true };
}

const UNAVAILABLE = 'tool_unavailable';

function failureOf(because: string): WrittenResult {
  if (because.startsWith(UNAVAILABLE)) return { error: because, code: UNAVAILABLE };
  return { error: because.replace(/^execution_error: /, '') };
}

type OfCheck = Extract<DoneCondition, { readonly check: string }>;

/** Errors: `CaptureRefused`, when no value that is found says the same. */
function madeOf(
  conditions: readonly DoneCondition[],
  { name, measure }: CheckDefinition,
  { held, value }: RunCheckOutput,
): Json {
  const own = conditions.flatMap((condition, index): (OfCheck & { readonly index: number })[] =>
    'check' in condition && condition.check === name ? [{ ...condition, index }] : [],
  );
  const holdsIn = (index: number, one: Json): boolean =>
    heldByCheck({ all: conditions }, name, one).includes(index);
  const paths = [...new Set(own.map(({ path }) => path))];
  const given: Candidate = value === undefined ? {} : { value };
  let result = placed({}, measure?.path, measure === undefined ? {} : given);
  for (const path of paths) {
    if (path !== undefined && path === measure?.path) continue;
    const same = own.filter((one) => one.path === path);
    const found = candidatesFor(same).find((candidate) => {
      const one = placed(result, path, candidate);
      return same.every(({ index }) => holdsIn(index, one) === held.includes(index));
    });
    if (found !== undefined) result = placed(result, path, found);
  }
  const isSame = own.every(({ index }) => holdsIn(index, result) === held.includes(index));
  if (isSame && (measure === undefined || measured(result, measure.path) === value)) return result;
  throw refused(
    `the result of its check ${name} is not recorded, and none was found that says the same`,
  );
}

interface Candidate {
  /** Absent: nothing lies at the path. */
  readonly value?: Json;
}

function candidatesFor(conditions: readonly OfCheck[]): readonly Candidate[] {
  const named = conditions.flatMap(({ equals, lte, gte }): Json[] => [
    ...(equals === undefined ? [] : [equals]),
    ...(lte === undefined ? [] : [lte, lte + 1]),
    ...(gte === undefined ? [] : [gte, gte - 1]),
  ]);
  return [...named.map((value) => ({ value })), { value: 'recorded' }, {}];
}

/** The result with something at a path; without a path the candidate itself. */
function placed(result: Json, path: string | undefined, { value }: Candidate): Json {
  if (value === undefined) return result;
  return path === undefined ? value : put(result, path.split('.'), value);
}

function put(into: Json, [name = '', ...rest]: readonly string[], value: Json): Json {
  const before = isRecord(into) ? (into as { readonly [key: string]: Json }) : {};
  const inner = rest.length === 0 ? value : put(before[name] ?? {}, rest, value);
  return { ...before, [name]: inner };
}

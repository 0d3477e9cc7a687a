/**
 * Compares the steps of a history with those of its replay.
 * Invariants: steps are matched by kind and id, never by place alone, so that one difference is one finding;
 * where the replay left the history's way, only the first such step is told: all later ones follow from it.
 */
import { canonicalJson, type Json } from '../core/json/json.js';
import { digestRenames, type DigestRename } from './digest-renames.js';
import { firstDifference } from './first-difference.js';
import { textAt } from '../recording/history.js';
import type { RecordedStep, Step, StepKind } from './step.js';

export interface StepDifference {
  readonly kind: StepKind;
  readonly id: string;
  /** Name of the tool that the step is about. */
  readonly tool?: string;
  /** Of the history's event; absent: the history has no such step. */
  readonly eventId?: number;
  /** Which code recorded it. */
  readonly code?: string;
  /** `value`: the same step with other data. Else only one of them has this step. */
  readonly what: 'value' | 'only recorded' | 'only replayed';
  /** Place of the first difference. */
  readonly path: string;
  readonly recorded?: Json;
  readonly replayed?: Json;
  /** Of data that differ in digests alone: all of them. */
  readonly renames?: readonly DigestRename[];
}

export interface Replayed {
  readonly steps: readonly Step[];
  /** Temporal ended the replay with an error, so steps are missing. */
  readonly broken: boolean;
  /** The history goes on: the code may have gone further than what was recorded. */
  readonly open: boolean;
}

export function compareSteps(
  recorded: readonly RecordedStep[],
  { steps, broken, open }: Replayed,
): readonly StepDifference[] {
  const replayed = numbered(steps);
  const inHistory = new Set(numbered(recorded).keys());
  const differences: StepDifference[] = [];
  for (const [key, step] of numbered(recorded)) {
    const other = replayed.get(key);
    if (other === undefined) {
      differences.push(onlyRecorded(step));
      break;
    }
    const found = valueDifference(step, other);
    if (found !== undefined) differences.push(found);
  }
  const surplus = [...replayed].find(
    ([key, step]) => !inHistory.has(key) && !isTakenBack(step, steps, inHistory),
  );
  if (surplus !== undefined && (broken || !open)) differences.push(onlyReplayed(surplus[1]));
  return differences;
}

/** What is started and cancelled in one workflow task never reaches the server. */
function isTakenBack(step: Step, steps: readonly Step[], inHistory: ReadonlySet<string>): boolean {
  const cancels = /^(.*)_cancel$/.exec(step.kind);
  if (cancels !== null) return !inHistory.has(`${cancels[1]} ${step.id} 1`);
  return steps.some(({ kind, id }) => kind === `${step.kind}_cancel` && id === step.id);
}

/** By kind, id and how often that has come. */
function numbered<S extends Step>(steps: readonly S[]): ReadonlyMap<string, S> {
  const times = new Map<string, number>();
  return new Map(
    steps.map((step) => {
      const name = `${step.kind} ${step.id}`;
      const time = (times.get(name) ?? 0) + 1;
      times.set(name, time);
      return [`${name} ${time}`, step];
    }),
  );
}

function valueDifference(recorded: RecordedStep, given: Step): StepDifference | undefined {
  const replayed = { ...given, value: recordable(recorded, given) };
  // Equality is that of the canonical form; the walk only finds the place.
  if (canonicalJson(recorded.value) === canonicalJson(replayed.value)) return undefined;
  const found = firstDifference(recorded.value, replayed.value);
  const renames = digestRenames(recorded.value, replayed.value);
  return {
    ...placeOf(recorded),
    what: 'value',
    path: found?.path ?? '',
    ...(found?.recorded !== undefined && { recorded: found.recorded }),
    ...(found?.replayed !== undefined && { replayed: found.replayed }),
    ...(renames !== undefined && { renames }),
  };
}

/** Of work within a task that never answered, the record has its type alone. */
function recordable(recorded: RecordedStep, { kind, value }: Step): Step['value'] {
  if (kind !== 'local_activity' || 'input' in recorded.value) return value;
  const { type } = value;
  return type === undefined ? {} : { type };
}

function onlyRecorded(step: RecordedStep): StepDifference {
  return { ...placeOf(step), what: 'only recorded', path: '', recorded: step.value };
}

function onlyReplayed(step: Step): StepDifference {
  const { kind, id } = step;
  return { kind, id, ...toolOf(step), what: 'only replayed', path: '', replayed: step.value };
}

function placeOf(step: RecordedStep): Pick<StepDifference, 'kind' | 'id' | 'eventId'> {
  const { kind, id, eventId, code } = step;
  return { kind, id, ...toolOf(step), eventId, ...(code !== undefined && { code }) };
}

function toolOf({ value }: Step): { readonly tool?: string } {
  const { input } = value;
  const first: Json | undefined = Array.isArray(input) ? input[0] : undefined;
  const tool =
    textAt(first, 'call', 'tool') ?? textAt(first, 'tool') ?? textAt(value, 'call', 'tool');
  return tool === undefined ? {} : { tool };
}

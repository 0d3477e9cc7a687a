/**
 * Two runs compared by their paths: the first thing in which they differ, the first decision that came out differently,
 * and both paths from there on.
 */
import type { Json } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import type { Aligned } from './align.js';
import type { PathEntry } from './path.js';
import { fieldsThatDiffer } from './fields.js';
import { NOTHING_PICKED, pickerOf, type Picked } from './picked.js';
import { sketchReader, type DiffOptions, type Sketch } from './sketch.js';
import type { FoldStep } from './steps.js';
import { comparedSketches, differenceIn, type PathsCompared } from './verdict.js';

export type { DiffOptions };

/** A run, a bundle, or a case that was played. */
export interface ComparedRun {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  /** Absent: there are no histories to take steps from. */
  readonly steps?: readonly FoldStep[];
}

export interface SideEntry {
  readonly step?: number;
  /** Of its event. */
  readonly seq: number;
  readonly turn: number;
  readonly type: string;
  readonly rule?: string;
  readonly says: string;
  readonly action: Json;
  readonly words: Json;
}

/** One place of both paths; null: this path has nothing there, or nothing more: its run has ended, or goes on. */
export interface DiffRow {
  readonly a: SideEntry | null;
  readonly b: SideEntry | null;
  readonly differs: boolean;
  /** Of entries of one type that differ, the names of what differs in `action` and `words`. */
  readonly fields?: readonly string[];
}

export interface Ending {
  readonly runId: string;
  /** null: the run has not ended. */
  readonly stopReason: string | null;
  readonly detail: string | null;
  readonly costMicroUsd: number | null;
  readonly turns: number | null;
  readonly toolCalls: number | null;
}

export interface Diff {
  readonly equal: boolean;
  /** `text`: the same was done; only words or costs differ. */
  readonly differsIn: 'nothing' | 'text' | 'action';
  /** Where each path stands once they differ; absent: they do not. */
  readonly first?: DiffRow;
  /** The first decision that differs; absent: there is none. */
  readonly decision?: DiffRow;
  /** Why, in a sentence. */
  readonly why: string;
  /** Places that differ in words alone, with --actions also where they are not compared. */
  readonly textDifferences: number;
  /**
   * Actions of both runs that stand more than 256 rows apart, and not beside their like: rows between them stand beside
   * others. Absent: there are none.
   */
  readonly actionsApart?: number;
  readonly a: Ending;
  readonly b: Ending;
  /** Both paths from the first difference on, the same beside the same; at most 1,000. */
  readonly rows: readonly DiffRow[];
}

export function diffOf(a: ComparedRun, b: ComparedRun, options: DiffOptions): Diff {
  const [left, right] = [sketchOf(a, options), sketchOf(b, options)];
  const verdict = comparedSketches(left, right, options);
  const sides = [
    { sketch: left, ...pickedOf(a, pickerOf(verdict, 'a', options)) },
    { sketch: right, ...pickedOf(b, pickerOf(verdict, 'b', options)) },
  ] as const;
  return diffBy(verdict, sides, options);
}

function sketchOf({ runId, events }: ComparedRun, options: DiffOptions): Sketch {
  const reader = sketchReader(options);
  for (const event of events) reader.event(event);
  return reader.end(runId);
}

function pickedOf({ events, steps = [] }: ComparedRun, picker: ReturnType<typeof pickerOf>) {
  if (picker === undefined) return NOTHING_PICKED;
  for (const event of events) picker.event(event);
  picker.end();
  for (const step of steps) picker.step(step);
  return picker.picked;
}

export interface DiffSide extends Picked {
  readonly sketch: Sketch;
}

/** `sides`: what `pickerOf` has found of each. */
export function diffBy(
  verdict: PathsCompared,
  sides: readonly [a: DiffSide, b: DiffSide],
  options: DiffOptions,
): Diff {
  const { actions } = options;
  const { first, decision, inAction, texts, rows, apart } = verdict;
  const [left, right] = [sides[0].sketch, sides[1].sketch];
  const ends = { a: endingOf(left), b: endingOf(right), textDifferences: texts };
  if (first === undefined) {
    const why =
      texts === 0
        ? 'Both runs did and said the same.'
        : `Both runs did the same; ${texts} text(s) differ.`;
    return { equal: true, differsIn: 'nothing', why, rows: [], ...ends };
  }
  const rowOf = (places: Aligned): Row => {
    const differs = differenceIn(left, right, places);
    return {
      a: placedAt(sides[0], places.a),
      b: placedAt(sides[1], places.b),
      differs: differs === 'action' || (differs === 'words' && !actions),
    };
  };
  const beginning = rowOf({ a: first, b: first });
  return {
    equal: false,
    differsIn: inAction ? 'action' : 'text',
    first: shown(beginning, options),
    ...(decision !== undefined && { decision: shown(rowOf(decision), options) }),
    why: whyOf(beginning),
    rows: rows.map((places) => shown(rowOf(places), options)),
    ...(apart > 0 && { actionsApart: apart }),
    ...ends,
  };
}

interface Row {
  readonly a: Placed | undefined;
  readonly b: Placed | undefined;
  readonly differs: boolean;
}

interface Placed extends PathEntry {
  readonly step?: number;
}

function placedAt({ entries, steps }: DiffSide, index: number | undefined): Placed | undefined {
  const entry = index === undefined ? undefined : entries.get(index);
  if (entry === undefined) return undefined;
  const step = steps.get(entry.seq);
  return { ...entry, ...(step !== undefined && { step }) };
}

function whyOf(row: Row): string {
  const { a, b } = row;
  if (a === undefined) return `The record of the first run ends; the second goes on: ${b!.says}.`;
  if (b === undefined) return `The record of the second run ends; the first goes on: ${a.says}.`;
  if (a.type === b.type && a.side === 'given')
    return `${GIVEN[a.type] ?? 'A word from outside'} differs, and the rules decide from there.`;
  const [left, right] = [a.rule ?? 'a fact', b.rule ?? 'a fact'];
  return left === right
    ? `Both were given the same; the rule “${left}” decided differently.`
    : `Both were given the same; the first run followed “${left}”, the second “${right}”.`;
}

const GIVEN: { readonly [type: string]: string } = {
  session_init: 'The beginning of the run',
  user_message: 'The message of the user',
  model_response: 'The reply of the model',
  model_error: 'How the model failed',
  retry: 'How an attempt of the model failed',
  tool_finished: 'The result of a tool',
  tool_reconciled: 'The fate of a call',
  approval_resolved: 'The decision of a person',
  input_provided: 'The answer of a person',
  hook: 'The word of a hook',
  interruption: 'The demand of a person',
};

function shown({ a, b, differs }: Row, options: DiffOptions): DiffRow {
  const isOneType = a !== undefined && a.type === b?.type;
  const fields = differs && isOneType ? fieldsThatDiffer(a, b, options) : [];
  return { a: sideOf(a), b: sideOf(b), differs, ...(fields.length > 0 && { fields }) };
}

function sideOf(entry: Placed | undefined): SideEntry | null {
  if (entry === undefined) return null;
  const { step, seq, turn, type, rule, says, action, words } = entry;
  return {
    ...(step !== undefined && { step }),
    seq,
    turn,
    type,
    ...(rule !== undefined && { rule }),
    says,
    action,
    words,
  };
}

function endingOf({ runId, result }: Sketch): Ending {
  return {
    runId,
    stopReason: result?.stopReason ?? null,
    detail: result?.detail ?? null,
    costMicroUsd: result?.costMicroUsd ?? null,
    turns: result?.counters.turnCount ?? null,
    toolCalls: result?.counters.toolCalls ?? null,
  };
}

/**
 * Two runs compared by their paths: the first thing in which they differ, the first decision that came out differently,
 * and both paths from there on.
 */
import { canonicalJson, type Json } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import { pathOf, resultIn, type PathEntry } from './path.js';
import type { FoldStep } from './steps.js';

/** A run, a bundle, or a case that was played. */
export interface ComparedRun {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  /** Absent: there are no histories to take steps from. */
  readonly steps?: readonly FoldStep[];
}

export interface DiffOptions {
  /** What models and tools said is not compared, nor what it cost: only what was done. */
  readonly actions: boolean;
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

/** One place of both paths; null: this path has ended. */
export interface DiffRow {
  readonly a: SideEntry | null;
  readonly b: SideEntry | null;
  readonly differs: boolean;
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
  /** The first place that differs, and the first decision that does; absent: there is none. */
  readonly first?: DiffRow;
  readonly decision?: DiffRow;
  /** Why, in a sentence. */
  readonly why: string;
  /** Places that differ in words alone, with --actions also where they are not compared. */
  readonly textDifferences: number;
  readonly a: Ending;
  readonly b: Ending;
  /** Both paths from the first difference on, at most ROWS_MAX. */
  readonly rows: readonly DiffRow[];
}

const ROWS_MAX = 1_000;

export function diffOf(a: ComparedRun, b: ComparedRun, { actions }: DiffOptions): Diff {
  const rows = rowsOf(a, b, actions);
  const first = rows.findIndex(({ differs }) => differs);
  const texts = rows.filter((row) => !differsInAction(row) && differsInWords(row)).length;
  const ends = { a: endingOf(a), b: endingOf(b), textDifferences: texts };
  if (first === -1) {
    const why =
      texts === 0
        ? 'Both runs did and said the same.'
        : `Both runs did the same; ${texts} text(s) differ.`;
    return { equal: true, differsIn: 'nothing', why, rows: [], ...ends };
  }
  const differing = rows.slice(first);
  const decision = differing.find((row) => row.differs && isDecided(row) && differsInAction(row));
  return {
    equal: false,
    differsIn: differing.some((row) => row.differs && differsInAction(row)) ? 'action' : 'text',
    first: shown(rows[first]!),
    ...(decision !== undefined && { decision: shown(decision) }),
    why: whyOf(rows[first]!),
    rows: differing.slice(0, ROWS_MAX).map(shown),
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

function rowsOf(a: ComparedRun, b: ComparedRun, actions: boolean): readonly Row[] {
  const [left, right] = [a, b].map((run) =>
    placed(run).filter(({ type }) => !actions || type !== 'tool_note'),
  ) as [Placed[], Placed[]];
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const row = { a: left[index], b: right[index], differs: false };
    return { ...row, differs: differsInAction(row) || (!actions && differsInWords(row)) };
  });
}

function placed({ events, steps = [] }: ComparedRun): readonly Placed[] {
  const stepOfSeq = new Map(
    steps.flatMap(({ step, events: [from, to] }) =>
      Array.from({ length: to - from }, (_, index) => [from + index, step] as const),
    ),
  );
  return pathOf(events).map((entry) => {
    const step = stepOfSeq.get(entry.seq);
    return { ...entry, ...(step !== undefined && { step }) };
  });
}

function differsInAction({ a, b }: Row): boolean {
  if (a === undefined || b === undefined) return true;
  return a.type !== b.type || canonicalJson(a.action) !== canonicalJson(b.action);
}

function differsInWords({ a, b }: Row): boolean {
  if (a === undefined || b === undefined) return true;
  return canonicalJson(a.words) !== canonicalJson(b.words);
}

function isDecided({ a, b }: Row): boolean {
  return (a ?? b)?.side === 'decided' || b?.side === 'decided';
}

function whyOf(row: Row): string {
  const { a, b } = row;
  if (a === undefined) return `The first run has ended; the second goes on: ${b!.says}.`;
  if (b === undefined) return `The second run has ended; the first goes on: ${a.says}.`;
  if (a.type === b.type && a.side === 'given')
    return `${GIVEN[a.type] ?? 'What came from outside'} differs, and the rules decide from there.`;
  const [left, right] = [a.rule ?? 'a fact', b.rule ?? 'a fact'];
  return left === right
    ? `Both were given the same; the rule “${left}” decided differently.`
    : `Both were given the same; the first run followed “${left}”, the second “${right}”.`;
}

const GIVEN: { readonly [type: string]: string } = {
  session_init: 'What the run began with',
  user_message: 'What the user wrote',
  model_response: 'What the model said',
  model_error: 'How the model failed',
  retry: 'How an attempt of the model failed',
  tool_finished: 'What a tool returned',
  tool_reconciled: 'What became of a call',
  approval_resolved: 'What people decided',
  input_provided: 'What people answered',
  hook: 'What a hook said',
  interruption: 'What a person asked for',
};

function shown({ a, b, differs }: Row): DiffRow {
  return { a: sideOf(a), b: sideOf(b), differs };
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

function endingOf({ runId, events }: ComparedRun): Ending {
  const result = resultIn(events);
  return {
    runId,
    stopReason: result?.stopReason ?? null,
    detail: result?.detail ?? null,
    costMicroUsd: result?.costMicroUsd ?? null,
    turns: result?.counters.turnCount ?? null,
    toolCalls: result?.counters.toolCalls ?? null,
  };
}

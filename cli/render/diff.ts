/** Two compared runs, for a terminal: where they differ, and both paths beside each other. */
import { isRecord } from '../../core/json/shape.js';
import type { Diff, DiffRow, Ending, SideEntry } from '../../recording/diff.js';
import type { TreeDiff } from '../../recording/tree-diff.js';
import type { Output } from '../terminal/output.js';
import { inert, plural, usdText } from './index.js';

const ROWS_SHOWN = 40;
const COLUMN_CHARS = 58;
const CELL_READ_CHARS = 200;

export function printDiff(diff: TreeDiff, output: Output): void {
  output.data(diff);
  if (output.json) return;
  printRun(diff, output);
  for (const one of diff.below ?? []) {
    output.line('');
    output.line(inert(one.run, 200));
    if (one.differsIn === 'presence') output.line(inert(one.why, 600));
    else if (one.equal) output.line(`Equal. ${one.why}`);
    else printRun(one, output);
  }
}

function printRun(diff: Diff, output: Output): void {
  const { equal, differsIn, why, first, decision, rows, actionsApart = 0, a, b } = diff;
  output.line(equal ? `Equal. ${why}` : `The runs differ in ${differsIn}. ${inert(why, 600)}`);
  if (first !== undefined) output.line(`First difference  ${placeOf(first, 'has nothing more')}`);
  if (decision !== undefined)
    output.line(`First decision    ${placeOf(decision, 'has none there')}`);
  if (rows.length > 0) {
    output.line('');
    output.line(`  ${'A'.padEnd(COLUMN_CHARS)} | B`);
    for (const row of rows.slice(0, ROWS_SHOWN)) {
      for (const line of rowLines(row)) output.line(line);
    }
    const more = rows.length - ROWS_SHOWN;
    if (more > 0) output.remark(`--json has ${plural(more, 'more place')}.`);
    if (actionsApart > 0) output.line(apartLine(actionsApart));
  }
  output.line('');
  for (const [name, ending] of [
    ['A', a],
    ['B', b],
  ] as const)
    output.line(endLine(name, ending));
}

function apartLine(count: number): string {
  return `${plural(count, 'action')} of both runs stand more than 256 rows apart: rows between them stand beside others than their like.`;
}

function placeOf({ a, b }: DiffRow, nothing: string): string {
  const [left, right] = [a, b].map((side) => (side === null ? nothing : sidePlace(side)));
  return `A ${left}, B ${right}`;
}

function sidePlace(side: SideEntry): string {
  const step = side.step === undefined ? '' : `step ${side.step}, `;
  const rule = side.rule === undefined ? '' : `, rule ${side.rule}`;
  return `${step}turn ${side.turn}, ${side.type.replaceAll('_', ' ')}${rule}`;
}

function rowLines(row: DiffRow): readonly string[] {
  const { a, b, differs } = row;
  const [left, right] = [a, b].map((side) => cell(side?.says ?? ''));
  const line = columns(differs ? '≠' : ' ', left!, right!);
  return differs && left === right ? [line, ...fieldLines(row)] : [line];
}

/** As wide as its column at most. */
function cell(text: string): string {
  const shown = Array.from(inert(text, CELL_READ_CHARS));
  return shown.length <= COLUMN_CHARS
    ? shown.join('')
    : `${shown.slice(0, COLUMN_CHARS - 1).join('')}…`;
}

function columns(mark: string, left: string, right: string): string {
  return `${mark} ${left.padEnd(COLUMN_CHARS)} | ${right}`.trimEnd();
}

/** Of entries that have the same words. */
function fieldLines({ a, b, fields = [] }: DiffRow): readonly string[] {
  return fields.map((name) => {
    const [left, right] = [a, b].map((side) => fieldText(side, name));
    const from = Math.max(0, sameBeginning(left!, right!) - FIELD_CHARS_BEFORE);
    const [one, other] = [left!, right!].map((text) => {
      const shown = `  ${name}: ${from === 0 ? '' : '…'}${text.slice(from)}`;
      return cell(shown);
    });
    return columns(' ', one!, other!);
  });
}

const FIELD_CHARS_BEFORE = 12;

function fieldText(side: SideEntry | null, name: string): string {
  const values = [side?.action, side?.words].map((part) => {
    if (isRecord(part)) return part[name];
    return part === side?.[name as 'action' | 'words'] ? part : undefined;
  });
  return JSON.stringify(values.find((value) => value !== undefined) ?? null);
}

function sameBeginning(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

function endLine(
  name: string,
  { runId, stopReason, detail, costMicroUsd, turns, toolCalls }: Ending,
): string {
  if (stopReason === null) return `${name}  ${inert(runId)}: has not ended`;
  const why = detail === null ? '' : ` (${inert(detail)})`;
  const counts = `${plural(turns ?? 0, 'turn')}, ${plural(toolCalls ?? 0, 'tool call')}`;
  return `${name}  ${inert(runId)}: ${stopReason}${why}, ${usdText(costMicroUsd ?? 0)}, ${counts}`;
}

/** The report of an evaluation on the past: as data, as Markdown for people, as JUnit for a CI. */
import type { Unmatched } from '../scripted/live.js';
import { plural } from '../../pure/plural.js';
import type { Gate, Violation } from './gate.js';
import type { Effect, NotPlayed, PastOutcome } from './outcome.js';
import type { PastSummary } from './summary.js';

export interface PastReport {
  readonly model: string | null;
  readonly unmatched: 'refuse' | 'stop';
  readonly summary: PastSummary;
  readonly gate: {
    readonly passed: boolean;
    readonly rules: Gate;
    readonly violations: readonly Violation[];
  };
  readonly runs: readonly (PastOutcome | NotPlayed)[];
}

const VALUE_CHARS_MAX = 300;
const EFFECTS_SHOWN = 10;
const MICRO = 1_000_000;

/** Lines of one run, the first with its end; hostile texts are shortened, and escaped by the caller. */
export function linesOfRun(one: PastOutcome | NotPlayed): readonly string[] {
  if (one.kind === 'not_played') return [`not played: ${one.why}`];
  const { was, now, unmatched } = one;
  return [
    one.same_end
      ? `same end: ${endText(now)}`
      : `another end: ${endText(was)} then, ${endText(now)} now`,
    ...effectLines('new effect', one.new_effects),
    ...effectLines('missing effect', one.missing_effects),
    ...(was.calls === now.calls
      ? []
      : [`${plural(now.calls, 'call')} of tools, ${was.calls} then`]),
    ...(now.breaches > was.breaches
      ? [`${now.breaches} denied or invalid calls, ${was.breaches} then`]
      : []),
    ...unmatched
      .slice(0, EFFECTS_SHOWN)
      .map(
        (asked) =>
          `never recorded${asked.run === undefined ? '' : ` of ${asked.run}`}: ${askedText(asked)}`,
      ),
  ];
}

function askedText(asked: Unmatched): string {
  switch (asked.kind) {
    case 'call':
      return `${asked.tool} ${short(asked.input)}`;
    case 'question':
      return `a decision about ${asked.tool ?? asked.about}`;
    case 'reply':
      return 'another reply of its model';
  }
}

function endText({ stop_reason: reason, detail }: PastOutcome['now']): string {
  return detail === null ? reason : `${reason} (${detail})`;
}

function effectLines(name: string, effects: readonly Effect[]): readonly string[] {
  const lines = effects
    .slice(0, EFFECTS_SHOWN)
    .map(({ tool, input }) => `${name}: ${tool} ${short(input)}`);
  const more = effects.length - lines.length;
  return more > 0 ? [...lines, `${more} more of the kind "${name}"`] : lines;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text;
}

export function markdownOf({ model, summary, gate, runs }: PastReport): string {
  const { was, now } = summary;
  const rows: readonly (readonly [string, string, string])[] = [
    ['completed', `${was.completed} of ${summary.played}`, `${now.completed} of ${summary.played}`],
    ['turns', `${was.turns}`, `${now.turns}`],
    ['calls of tools', `${was.calls}`, `${now.calls}`],
    ['denied or invalid calls', `${was.breaches}`, `${now.breaches}`],
    ['cost', usd(was.cost_micro_usd), usd(now.cost_micro_usd)],
  ];
  return [
    `# ${gate.passed ? 'No regression' : 'Regression'}: ${summary.played} recorded runs with ${cell(model ?? 'the recorded model')}`,
    '',
    `${summary.same_end} end as they did, ${summary.same_effects} have the same effects, ${summary.unmatched} asked something that was never recorded, ${summary.not_played} were not played.`,
    '',
    '| | then | now |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
    ...gate.violations.map((one) => `- **${one.rule}**: ${violationText(one)}`),
    ...(gate.violations.length > 0 ? [''] : []),
    '| run | what changed |',
    '| --- | --- |',
    ...runs.map((one) => `| ${cell(one.run_id)} | ${linesOfRun(one).map(cell).join('<br>')} |`),
    '',
  ].join('\n');
}

export function violationText({ allowed, observed }: Violation): string {
  const value =
    observed === Number.MAX_SAFE_INTEGER ? 'more than nothing' : `${Number(observed.toFixed(3))}`;
  return `${value}, allowed is ${allowed}`;
}

export function usd(microUsd: number): string {
  return `$${(microUsd / MICRO).toFixed(4)}`;
}

/** Texts of models and tools stay texts in a table. */
function cell(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .replaceAll(/[\\`*_{}[\]<>|#&!]/g, (char) => `&#${char.codePointAt(0)};`);
}

/** A test case for each run and one for each rule of the gate: a CI shows the rules that fail, and why. */
export function junitOf({ summary, gate, runs }: PastReport): string {
  const rules = Object.keys(gate.rules);
  const failed = new Map(gate.violations.map((one) => [one.rule as string, one]));
  const skipped = runs.filter((one) => one.kind === 'not_played').length;
  const named = distinct();
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="holdfast eval --from" tests="${runs.length + rules.length}" failures="${gate.violations.length}" skipped="${skipped}">`,
    ...rules.map((rule) => {
      const violation = failed.get(rule);
      return violation === undefined
        ? `  <testcase classname="gate" name="${xml(rule)}"/>`
        : `  <testcase classname="gate" name="${xml(rule)}"><failure message="${xml(violationText(violation))}"/></testcase>`;
    }),
    ...runs.map((one) => {
      const name = `  <testcase classname="run" name="${xml(named(one))}">`;
      return one.kind === 'not_played'
        ? `${name}<skipped message="${xml(one.why)}"/></testcase>`
        : `${name}<system-out>${xml(linesOfRun(one).join('\n'))}</system-out></testcase>`;
    }),
    `  <system-out>${summary.played} of ${plural(summary.runs, 'run')} played.</system-out>`,
    '</testsuite>',
    '',
  ].join('\n');
}

/** Of one run there may be more bundles than one, and a CI takes cases of one name as one. */
function distinct(): (one: PastReport['runs'][number]) => string {
  const times = new Map<string, number>();
  return ({ run_id: id }) => {
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    return time === 1 ? id : `${id} (${time})`;
  };
}

/** Characters that XML does not know are left out. */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll(/[<>&"']/g, (char) => `&#${char.codePointAt(0)};`);
}

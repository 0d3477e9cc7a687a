/** Writes docs/reference/events.md from the types of events and their meanings: `npm run semantics`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventType } from '../../core/state/event.js';
import { HOOK_POINTS } from '../../core/state/hook.js';
import { TOOL_RESULT_CODES } from '../../core/state/tool-result.js';
import { WARNINGS } from '../../core/state/warning.js';
import { declarationOf, fieldsOf, membersOf, type Field, type Member } from './declarations.js';
import { MEANINGS_BY_NAME, EVENT_GROUPS, EVENT_GUIDE } from './event-guide.js';
import { SHARED_TYPES } from './event-types.js';

const EVENTS = 'core/state/event.ts';

/** Every event type as it is declared. */
export function declaredEvents(): ReadonlyMap<string, Member> {
  const members = [
    ...membersOf(EVENTS, 'EventBody'),
    ...membersOf('core/state/goal/event.ts', 'GoalEventBody'),
  ];
  return new Map(members.map((member) => [member.type, member]));
}

/** The meaning of a field; undefined: there is none. */
export function meaningOf(type: EventType, { name, says }: Field): string | undefined {
  return EVENT_GUIDE[type].fields?.[name] ?? says ?? MEANINGS_BY_NAME[name];
}

/** Names of declared types in the type of a field. */
export function typesIn({ type }: Field): readonly string[] {
  return [...type.replaceAll(/'[^']*'/g, '').matchAll(/\b[A-Z]\w+/g)]
    .map(([name]) => name)
    .filter((name) => name !== 'Exclude');
}

export function eventsPage(): string {
  const declared = declaredEvents();
  return `${[
    '# Events',
    '',
    'Each thing that a run or a goal does is an event. `holdfast watch` and `holdfast show` print them, `run.events()` and `onEvent` give them, and the [stream](../guide/streaming.md) carries them. A stored event is never changed, and a type or a field never renamed; new ones may come, so readers skip what they do not know. Written by `npm run semantics` from `core/state/event.ts` and `lab/words/event-guide.ts`; do not edit.',
    '',
    '`?` marks a field that may be absent. Amounts of money are whole micro-USD, times are ms since epoch, unless a field says otherwise.',
    '',
    '## The stamp',
    '',
    'Each event has its `type`, the fields of that type, and a `stamp`:',
    '',
    ...table(
      fieldsOf(EVENTS, 'EventStamp').map((field) => row(field, STAMP[field.name] ?? field.says)),
    ),
    ...EVENT_GROUPS.flatMap(({ title, types }) => [
      '',
      `## ${title}`,
      ...types.flatMap((type) => eventLines(type, declared.get(type)!)),
    ]),
    '',
    '## Warnings',
    '',
    ...table(
      Object.entries(WARNINGS).map(([code, { says }]) => [`\`${code}\``, says]),
      ['code', 'meaning'],
    ),
    '',
    '## Types',
    '',
    'Names that stand in these declarations alone are types of the package: `dist/core/state/` declares them.',
    ...['ToolResultCode', 'HookPoint'].flatMap((name) => [
      '',
      `### ${name}`,
      '',
      VALUES[name]!.map((value) => `\`${value}\``).join(', '),
    ]),
    ...Object.entries(SHARED_TYPES).flatMap(([name, file]) => [
      '',
      `### ${name}`,
      '',
      '```typescript',
      declarationOf(file, name),
      '```',
    ]),
  ].join('\n')}\n`;
}

/** Types that a list of values makes. */
export const VALUES: { readonly [name: string]: readonly string[] } = {
  ToolResultCode: TOOL_RESULT_CODES,
  HookPoint: HOOK_POINTS,
  WarningCode: Object.keys(WARNINGS),
};

const STAMP: { readonly [field: string]: string } = {
  seq: 'Number of the event in its run, from 0, without gaps.',
  runId: 'Id of the run or goal.',
  traceId: 'Id that all runs of one task share.',
  at: 'Time of the workflow.',
  phase: 'The work that the run was at.',
  step: 'Number of the decision that emitted it, as `holdfast inspect` counts.',
  turn: 'Number of the turn, from 0.',
};

function eventLines(type: EventType, { fields, and }: Member): readonly string[] {
  const { says, when } = EVENT_GUIDE[type];
  const whole = and === undefined ? [] : ['', `The fields are those of ${linked(and)}.`];
  return [
    '',
    `### ${type}`,
    '',
    `${says} **Written:** ${when}`,
    ...whole,
    ...(fields.length === 0
      ? []
      : ['', ...table(fields.map((field) => row(field, meaningOf(type, field))))]),
  ];
}

function row({ name, optional, type }: Field, says = ''): readonly string[] {
  const names = typesIn({ name, optional, type }).filter(
    (one) => one in SHARED_TYPES || one in VALUES,
  );
  const more = [...new Set(names)].map(linked).join(', ');
  const code = `\`${type}\``;
  const shown = names[0] === type ? more : more === '' ? code : `${code} (${more})`;
  return [`\`${name}${optional ? '?' : ''}\``, shown, says];
}

function linked(name: string): string {
  return `[${name}](#${name === 'WarningCode' ? 'warnings' : name.toLowerCase()})`;
}

function table(
  rows: readonly (readonly string[])[],
  head: readonly string[] = ['field', 'type', 'meaning'],
): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

if (require.main === module)
  writeFileSync(join(__dirname, '../../docs/reference/events.md'), eventsPage());

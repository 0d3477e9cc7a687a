import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventType } from '../../core/state/event.js';
import { EVENT_GROUPS, EVENT_GUIDE } from '../../lab/words/event-guide.js';
import { SHARED_TYPES } from '../../lab/words/event-types.js';
import { declaredEvents, eventsPage, meaningOf, typesIn, VALUES } from '../../lab/words/events.js';

const ROOT = join(__dirname, '..', '..');
const TYPES = Object.keys(EVENT_GUIDE) as EventType[];
const SENTENCE = /^(?!It |What |Whoever |Nobody )[A-Z`][\s\S]*\.$/;

/** The table's layout is the formatter's business. */
const cells = (text: string): string => text.replace(/-{3,}/g, '---').replace(/ +/g, ' ');

test('every type of event is declared, and stands once on the page', () => {
  expect([...declaredEvents().keys()].toSorted()).toEqual(TYPES.toSorted());
  expect(EVENT_GROUPS.flatMap(({ types }) => types).toSorted()).toEqual(TYPES.toSorted());
});

test.each(TYPES)('%s has its meaning, its time and a meaning of each field', (type) => {
  const { says, when, fields = {} } = EVENT_GUIDE[type];
  expect(says).toMatch(SENTENCE);
  expect(when).toMatch(SENTENCE);
  const declared = declaredEvents().get(type)!;
  const names = declared.fields.map(({ name }) => name);
  expect(Object.keys(fields).filter((name) => !names.includes(name))).toEqual([]);
  expect(
    declared.fields.filter((field) => meaningOf(type, field) === undefined).map(({ name }) => name),
  ).toEqual([]);
});

test('a field of a type that is declared elsewhere leads to its declaration', () => {
  const named = [...declaredEvents().values()].flatMap(({ fields, and }) => [
    ...fields.flatMap(typesIn),
    ...(and === undefined ? [] : [and]),
  ]);
  expect(named.filter((name) => !(name in SHARED_TYPES) && !(name in VALUES))).toEqual([]);
});

test('docs/reference/events.md says what the declarations say', () => {
  const written = readFileSync(join(ROOT, 'docs', 'reference', 'events.md'), 'utf8');
  const fresh = execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/prettier/bin/prettier.cjs'), '--parser', 'markdown'],
    { cwd: ROOT, input: eventsPage(), encoding: 'utf8' },
  );
  expect(cells(written)).toBe(cells(fresh));
});

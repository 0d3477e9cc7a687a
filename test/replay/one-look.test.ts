/** Long runs are read in one pass: of a text no more is taken than is asked for, and of a payload one value is made. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import { argumentsOf, payloadReader, payloadValuesIn } from '../../recording/history.js';
import { codesOf, recordedSteps } from '../../replay/recorded-steps.js';
import { canonicalForm, isCanonicalForm } from '../../replay/stream/canonical-form.js';
import { jsonPieces } from '../../replay/stream/json-pieces.js';
import { runsOf } from '../../replay/tree.js';
import { keptHistories, readKept } from '../../lab/seal/kept-histories.js';
import { drawn } from '../draw.js';
import { SEED } from '../seed.js';

test('Of a list no more is taken than its next value, however long the list is.', async () => {
  const VALUES = 500;
  let taken = 0;
  async function* chunks() {
    yield '[';
    for (; taken < VALUES;) {
      taken += 1;
      yield `{"text":"${'x'.repeat(1_000)}"}${taken === VALUES ? ']' : ','}`;
    }
  }
  const json = jsonPieces(chunks(), () => undefined);
  let ahead = 0;
  for await (const index of json.items()) {
    await json.value();
    ahead = Math.max(ahead, taken - index);
  }
  expect(taken).toBe(VALUES);
  expect(ahead).toBeLessThan(5);
});

test('Texts end at their own quote, wherever a chunk ends and however many backslashes stand before it.', async () => {
  const texts = ['', '\\', '\\\\', '"', '\\"', '\\\\"}]', 'x\\'.repeat(3), '{["', ',:'];
  const text = canonicalJson([texts, { a: texts, b: [[], {}, 1, null] }]);
  for (const size of [1, 2, 3, 5, 8, 1_000]) {
    async function* cut() {
      yield* text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    }
    expect(await jsonPieces(cut(), () => undefined).value()).toEqual(JSON.parse(text));
  }
});

const FORM_KINDS: readonly (readonly string[])[] = [
  ['{}', '[]', '1', '"é"', 'null', '{"a":{"b":[1,{"c":null}]},"b":1}', '{"":0,"a":0}'],
  ['{"1":0,"10":0,"2":0}', '{"1":0,"2":0,"10":0}', '{"b":0,"a":0}', '[{"b":0,"a":0}]'],
  ['{"a":0,"a":0}', '{"__proto__":{"a":1}}', '{"a":1,"__proto__":2}', '{"toJSON":1}'],
  ['{ "a":1}', '1.0', '1e3', '-0', '0', '1e21', '"\\u0061"', '"\\u00e9"', '"\\ud800"', '"\\/"'],
  ['{"\u{e000}":0,"\u{1f600}":0}', '{"\u{1f600}":0,"\u{e000}":0}'],
  [70, 200].flatMap((deep) => [
    `${'['.repeat(deep)}1${']'.repeat(deep)}`,
    `${'['.repeat(deep)}{"b":0,"a":0}${']'.repeat(deep)}`,
  ]),
];
const FORMS = FORM_KINDS.flat();

test.each(FORMS)('Whether %s is a canonical form, is told as by writing it.', (form) => {
  const value = JSON.parse(form) as Json;
  expect(isCanonicalForm(value, form)).toBe(canonicalJson(value) === form);
});

test.each(FORMS)('The canonical form of %s is written as by the slow writer.', (form) => {
  const value = JSON.parse(form) as Json;
  expect(canonicalForm(value)).toBe(canonicalJson(value));
});

test('Names in no order are put in order at every depth in one pass, and a number without end is refused.', () => {
  let deep: Json = 1;
  // Looked at twice at each depth this would never end.
  for (let depth = 0; depth < 60; depth += 1) deep = { b: deep, a: [depth] };
  expect(canonicalForm(deep)).toBe(canonicalJson(deep));
  const endless = JSON.parse('{"b":1e999,"a":1}') as Json;
  expect(() => canonicalForm(endless)).toThrow('Infinity is not allowed');
  expect(canonicalForm({ b: undefined, a: 1 } as unknown as Json)).toBe('{"a":1}');
});

test('A payload is decoded once for all who look at it with one reader.', () => {
  let decoded = 0;
  const payload = {
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    get data() {
      decoded += 1;
      return Buffer.from('{"a":1}').toString('base64');
    },
  };
  const event = { eventId: '1', eventType: 'X', input: { payloads: [payload] } };
  const read = payloadReader();
  expect(argumentsOf(event.input, read)).toEqual([{ a: 1 }]);
  expect(payloadValuesIn(event, read)).toEqual([{ a: 1 }]);
  expect(decoded).toBe(1);
  argumentsOf(event.input);
  expect(decoded).toBe(2);
});

test('The codes of a history are those that its steps name.', () => {
  const histories = drawn(keptHistories(), 20, SEED)
    .flatMap((kept) => runsOf(readKept(kept)))
    .flatMap(({ segments }) => segments.map(({ events }) => events));
  for (const events of histories) {
    const named = recordedSteps(events).flatMap(({ code }) => code ?? []);
    expect(codesOf(events)).toEqual([...new Set(named)]);
  }
  const decidedBy = (eventId: string, binaryChecksum: string) => ({
    eventId,
    eventType: 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
    workflowTaskCompletedEventAttributes: { binaryChecksum },
  });
  const timer = { eventId: '3', eventType: 'EVENT_TYPE_TIMER_STARTED' };
  expect(codesOf([decidedBy('1', 'idle'), decidedBy('2', 'used'), timer])).toEqual(['used']);
});

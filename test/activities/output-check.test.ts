import type { Json } from '../../core/json/json.js';
import { checkOutput, outputSchemaDefect } from '../../activities/model/output-check.js';
import { z } from 'zod';
import { defineTool } from '../../authoring/index.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import {
  attempt,
  callOf,
  executeInput,
  modelInput,
  openedHead,
  startBed,
  type Bed,
} from './setup.js';

const SCHEMA = {
  type: 'object',
  properties: { total: { type: 'integer', minimum: 0 } },
  required: ['total'],
  additionalProperties: false,
};
const outputSchema = { text: JSON.stringify(SCHEMA) };

const big = defineTool({
  name: 'big',
  version: '1',
  effect: 'read',
  input: z.looseObject({}),
  run: () => ({ pad: 'x'.repeat(9_000), order: { status: 'delivered' } }),
});

let bed: Bed;
afterEach(() => bed.end());

async function check(text: string, schema: object = SCHEMA) {
  bed = await startBed();
  const place = { store: bed.store, tenant: 'default' };
  return checkOutput(place, { text: JSON.stringify(schema) }, text);
}

describe('an answer against its schema', () => {
  test.each([
    ['plain', '{"total":3}'],
    ['with white space around it', '\n {"total":3} \n'],
    ['between fences', '```json\n{"total":3}\n```'],
  ])('%s conforms', async (_, text) => {
    expect(await check(text)).toEqual({ ok: true, value: { total: 3 } });
  });

  test.each([
    ['that is prose', 'The total is 3.', /not JSON/],
    ['with prose around it', 'Here: {"total":3}', /not JSON/],
    ['that misses a field', '{}', /total/],
    ['with a field too many', '{"total":3,"x":1}', /x/],
    ['below the minimum', '{"total":-1}', />=0/],
    ['with an integer too large to be exact', '{"total":1e60}', /too large/],
    ['as deep as nobody reads', `${'['.repeat(200)}${']'.repeat(200)}`, /levels deep/],
    ['of a million characters', `"${'x'.repeat(1_000_001)}"`, /too long/],
  ])('one %s does not', async (_, text, message) => {
    expect(await check(text)).toEqual({ ok: false, message: expect.stringMatching(message) });
  });

  test('what is wrong is said in bounded words', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 1]));
    const checked = await check(JSON.stringify(wrong));
    expect(checked.ok ? '' : checked.message).toHaveLength(1_000);
  });

  test('a regular expression that backtracks for ever is given up, and its schema still works', async () => {
    const schema = {
      type: 'object',
      properties: { code: { type: 'string', pattern: '^(a+)+$' } },
    };
    const endless = JSON.stringify({ code: `${'a'.repeat(60)}!` });
    const begun = performance.now();
    expect(await check(endless, schema)).toEqual({
      ok: false,
      message: expect.stringMatching(/takes too long/),
    });
    expect(performance.now() - begun).toBeLessThan(5_000);
    const place = { store: bed.store, tenant: 'default' };
    const again = { text: JSON.stringify(schema) };
    expect(await checkOutput(place, again, '{"code":"aaa"}')).toMatchObject({ ok: true });
    expect(await checkOutput(place, again, '{"code":"b"}')).toMatchObject({ ok: false });
  });

  test('the value is what was written, whatever defaults the schema has', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer', default: 1 } } };
    expect(await check('{}', schema)).toEqual({ ok: true, value: {} });
  });

  test('a large one is kept by reference', async () => {
    const value: Json = Array.from({ length: 9_000 }, (_, index) => index);
    const checked = await check(JSON.stringify(value), { type: 'array' });
    expect(checked).toMatchObject({ ok: true, value: { $blob: expect.any(String) } });
    const { $blob } = (checked as unknown as { value: { $blob: string } }).value;
    expect(await bed.store.getBlob('default', $blob)).toBe(JSON.stringify(value));
  });

  test('a recursive schema works, one that cannot be compiled is named', async () => {
    const tree = {
      $ref: '#/$defs/t',
      $defs: { t: { type: 'array', items: { $ref: '#/$defs/t' } } },
    };
    expect(await check('[[],[[]]]', tree)).toMatchObject({ ok: true });
    expect(outputSchemaDefect(JSON.stringify(tree))).toBeUndefined();
    expect(outputSchemaDefect('{"type":"nothing"}')).toMatch(/nothing/);
  });
});

describe('call_model with an output schema', () => {
  async function reply(answer: ScriptedAnswer) {
    bed = await startBed({ tools: [big], replies: [answer] });
    const head = await openedHead(bed);
    const output = await attempt(bed.activities().call_model, modelInput(head, { outputSchema }));
    return output.reply;
  }

  test('checks an answer', async () => {
    expect(await reply({ text: '{"total":3}' })).toMatchObject({
      text: { text: '{"total":3}' },
      output: { ok: true, value: { total: 3 } },
    });
  });

  test.each<[string, ScriptedAnswer]>([
    ['a reply with calls', { text: '{}', calls: [{ id: 'a', tool: 'big', input: {} }] }],
    ['a truncated one', { text: '{"tot', stopReason: 'max_tokens' }],
    ['a refusal', { text: 'No.', stopReason: 'refusal' }],
  ])('does not check %s', async (_, answer) => {
    expect((await reply(answer)).output).toBeUndefined();
  });
});

test('execute_tool says what a result proves that the run gets by reference', async () => {
  bed = await startBed({ tools: [big] });
  const proofs = [
    { id: 'there', when: { path: 'order.status', equals: 'delivered' } },
    { id: 'not', when: { path: 'order.status', equals: 'lost' } },
  ];
  const input = executeInput(callOf('big', {}), { proofs });
  const { outcome } = await attempt(bed.activities().execute_tool, input);
  expect(outcome).toMatchObject({ kind: 'ok', content: { bytes: 9_041 }, proves: ['there'] });
});

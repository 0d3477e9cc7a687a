/** Which later calls a standing grant covers, row by row. */
import { grantRows, mostId, readRow, unboundOf } from '../../../console/page/decide/grant-rows.js';

const ARGS = { recipient: 'A-1', amountCents: 500, note: 'n'.repeat(2_000), 'a.b': 1 };
const SCHEMA = { type: 'object', properties: { urgent: { type: 'boolean' } } };
const rows = grantRows(ARGS, SCHEMA);
const rowOf = (name: string) => rows.find((row) => row.name === name)!;

test('without a word of the person each row is as narrow as the run can compare it', () => {
  expect(rows.map((row) => [row.name, readRow(row, undefined)])).toEqual([
    ['recipient', { ok: true, condition: { path: 'recipient', equals: 'A-1' } }],
    ['amountCents', { ok: true, condition: { path: 'amountCents', equals: 500 } }],
    // What is too long, or has a name that is a path, cannot be compared.
    ['note', { ok: true, condition: undefined }],
    ['a.b', { ok: true, condition: undefined }],
    ['urgent', { ok: true, condition: { path: 'urgent', exists: false } }],
  ]);
});

test('a row is widened to at most so much, or to anything; no number is no bound', () => {
  const row = rowOf('amountCents');
  expect(readRow(row, { width: 'at most', most: '900' })).toEqual({
    ok: true,
    condition: { path: 'amountCents', lte: 900 },
  });
  expect(readRow(row, { width: 'anything' })).toEqual({ ok: true, condition: undefined });
  for (const most of ['', 'many', 'Infinity']) {
    const fault = 'amountCents: at most how much? A number.';
    const fieldId = mostId(row);
    expect(readRow(row, { width: 'at most', most })).toEqual({ ok: false, fault, fieldId });
  }
});

test('amounts and recipients without a bound are named', () => {
  const drafts = { [rowOf('recipient').id]: { width: 'anything' } } as const;
  expect(unboundOf(rows, {})).toEqual([]);
  expect(unboundOf(rows, drafts)).toEqual(['recipient']);
});

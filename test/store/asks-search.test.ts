/** Finding questions by what stands in them. */
import type { Store } from '../../store/store.js';
import {
  askView,
  cleanUp,
  eventsFrom,
  newStore,
  SESSION_INIT,
  withoutLaterTables,
} from './fixtures.js';

let store: Store;
let place: string;
beforeEach(async () => {
  ({ store, place } = await newStore());
  const ask = (number: number, more: object) =>
    ({
      type: 'approval_requested',
      ...askView(`r1:${number}`),
      openedAt: number,
      ...more,
    }) as const;
  await store.appendEvents(
    { tenant: 't', runId: 'r1', execution: 'e' },
    eventsFrom(0, [
      SESSION_INIT,
      ask(1, { args: { to: 'Ada@example.com', note: '100% "sure"' } }),
      ask(2, { args: { to: 'bob@example.com', note: 'a_b' } }),
      ask(4, { args: { note: 'MÜLLERSTRASSE ΟΔΟΣ Жук\nzeile\\zwei\0\uFDD0 \uD83D' } }),
      { ...ask(3, { question: 'Which colour?' }), type: 'input_request', kind: 'input' },
    ]),
  );
});
afterAll(cleanUp);

async function found(search: string): Promise<readonly string[]> {
  const filter = { pendingOnly: true, search };
  const rows = await store.listAsks('t', { ...filter, limit: 10 });
  expect(await store.countAsks('t', filter)).toBe(rows.length);
  return rows.map(({ askId }) => askId);
}

test('a search looks into arguments, questions and the names of runs, whatever the case', async () => {
  expect(await found('ada@EXAMPLE')).toEqual(['r1:1']);
  expect(await found('colour')).toEqual(['r1:3']);
  expect(await found('R1')).toEqual(['r1:1', 'r1:2', 'r1:3', 'r1:4']);
  expect(await found('nobody')).toEqual([]);
});

test('what a pattern would mean is looked for as it is', async () => {
  expect(await found('100%')).toEqual(['r1:1']);
  expect(await found('a_b')).toEqual(['r1:2']);
  expect(await found('!')).toEqual([]);
  expect(await found('"sure"')).toEqual(['r1:1']);
});

test('case does not matter in any alphabet, nor how an accent is written', async () => {
  for (const text of ['müllerstraße', 'MU\u0308LLER', 'Müller', 'οδος', 'ΟΔΟΣ', 'жУК', 'Жук']) {
    expect([text, await found(text)]).toEqual([text, ['r1:4']]);
  }
});

test('what no text should hold is looked for as it was stored', async () => {
  for (const text of ['jUk', '\nzeile', 'e\\z', '\0', '\uFDD0', '\uD83D', 'zwei\0\uFDD0 \uD83D']) {
    const expected = text === 'jUk' ? [] : ['r1:4'];
    expect([text, await found(text)]).toEqual([text, expected]);
  }
});

test('names of fields are in every question, and are not what is looked for', async () => {
  expect(await found('policyVersion')).toEqual([]);
  expect(await found('note')).toEqual([]);
});

test('a search without end, or for nothing, is refused', async () => {
  for (const search of ['', 'x'.repeat(1_001)]) {
    await expect(store.listAsks('t', { search, limit: 1 })).rejects.toMatchObject({
      code: 'InvalidRequest',
    });
  }
});

test('kinds and tenants narrow it', async () => {
  const count = (tenant: string, filter: object) => store.countAsks(tenant, filter);
  expect(await count('t', {})).toBe(4);
  expect(await count('t', { kinds: ['input'] })).toBe(1);
  expect(await count('t', { kinds: [] })).toBe(0);
  expect(await count('other', {})).toBe(0);
});

test('what an older release has stored is found as well', async () => {
  await store.close();
  await withoutLaterTables(place);
  ({ store } = await newStore(place));
  expect(await found('ada@EXAMPLE')).toEqual(['r1:1']);
  expect(await found('R1')).toEqual(['r1:1', 'r1:2', 'r1:3', 'r1:4']);
  expect(await found('Straße')).toEqual(['r1:4']);
});

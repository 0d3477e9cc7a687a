/** The lists of the desk: their filters, their order, their pages, and names that mean something elsewhere. */
import type { EventBody } from '../../core/state/event.js';
import type { Store } from '../../store/store.js';
import {
  askView,
  cleanUp,
  eventsFrom,
  HOSTILE_NAMES,
  newStore,
  RESULT,
  SESSION_INIT,
} from './fixtures.js';

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterAll(cleanUp);

/** In an order that no language has: that of their bytes. */
const NAMES = ['B', 'Z', '_', 'a', 'a-1', 'a1', 'aa', 'b', 'z', 'Ä', 'ä', '\uFFFC', '😀'];

function ended(costMicroUsd: number): EventBody {
  return { type: 'run_result', result: { ...RESULT, costMicroUsd } };
}

async function tell(runId: string, bodies: readonly EventBody[], at = 0): Promise<void> {
  await store.appendEvents({ tenant: 't', runId, execution: 'e' }, eventsFrom(0, bodies, at));
}

/** All pages of a list, one row each. */
async function pages<Row>(next: (last: Row | undefined) => Promise<readonly Row[]>) {
  const rows: Row[] = [];
  for (let turn = 0; turn < 100; turn += 1) {
    const page = await next(rows.at(-1));
    if (page.length === 0) return rows;
    rows.push(...page);
  }
  throw new Error('The list has no end.');
}

describe('runs', () => {
  const listed = async (query: Partial<Parameters<Store['listRuns']>[1]>) =>
    (await store.listRuns('t', { limit: 100, ...query })).map(({ runId }) => runId);

  test('that began at the same moment stand in the order of their ids, and no page loses one', async () => {
    for (const name of NAMES) await tell(name, [SESSION_INIT]);
    const newestFirst = NAMES.toReversed();
    expect(await listed({})).toEqual(newestFirst);
    const rows = await pages<{ startedAt: number; runId: string }>((before) =>
      store.listRuns('t', { limit: 1, ...(before && { before }) }),
    );
    expect(rows.map(({ runId }) => runId)).toEqual(newestFirst);
  });

  test('with a cost are those that have ended, up to the greatest sum that there is', async () => {
    await tell('open', [SESSION_INIT]);
    await tell('free', [SESSION_INIT, ended(0)]);
    await tell('cheap', [SESSION_INIT, ended(9)]);
    await tell('dear', [SESSION_INIT, ended(Number.MAX_SAFE_INTEGER)]);
    expect(await listed({})).toEqual(['open', 'free', 'dear', 'cheap']);
    expect(await listed({ costFrom: 0 })).toEqual(['free', 'dear', 'cheap']);
    // Not as texts, where 10 would come before 9.
    expect(await listed({ costFrom: 10 })).toEqual(['dear']);
    expect(await listed({ costFrom: 0, costTo: 9 })).toEqual(['free', 'cheap']);
    expect(await listed({ costTo: 8 })).toEqual(['free']);
    expect((await store.getRun('t', 'dear'))?.costMicroUsd).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('of an agent are those of exactly this name', async () => {
    for (const [index, agent] of [...HOSTILE_NAMES, 'Refund'].entries()) {
      await tell(`r${index}`, [{ ...SESSION_INIT, agent } as EventBody]);
    }
    for (const [index, agent] of HOSTILE_NAMES.entries()) {
      expect(await listed({ agent })).toEqual([`r${index}`]);
    }
    expect(await listed({ agent: 'refund' })).toEqual([]);
    expect(await listed({ agent: '%' })).toEqual([]);
    expect(await listed({ agent: 'Refund', status: 'running' })).toEqual(['r8']);
    expect(await listed({ agent: 'Refund', status: 'stopped' })).toEqual([]);
  });

  test.each([
    { costFrom: 0.5 },
    { costTo: Number.NaN },
    { before: { startedAt: 1.5, runId: 'a' } },
  ])('are not asked for by numbers that are none: %p', async (query) => {
    await expect(store.listRuns('t', { limit: 1, ...query })).rejects.toMatchObject({
      code: 'InvalidRequest',
    });
  });
});

describe('questions', () => {
  const asked = (askId: string): EventBody => ({ type: 'approval_requested', ...askView(askId) });

  test('that opened at the same moment stand in the order of their ids, and no page loses one', async () => {
    await tell('r1', NAMES.map(asked));
    const rows = await pages<{ openedAt: number; askId: string }>((after) =>
      store.listAsks('t', { limit: 1, ...(after && { after }) }),
    );
    expect(rows.map(({ askId }) => askId)).toEqual(NAMES);
  });

  test('of a run are those of exactly this name, and come back as they were', async () => {
    for (const runId of HOSTILE_NAMES) await tell(runId, [asked(`${runId}:1`)]);
    for (const runId of HOSTILE_NAMES) {
      const rows = await store.listAsks('t', { runId, limit: 9 });
      expect(rows).toEqual([
        { ...askView(`${runId}:1`), tenant: 't', runId, outcome: 'pending', by: [] },
      ]);
      expect(await store.countAsks('t', { search: runId })).toBe(runId === ' ' ? 3 : 1);
    }
  });
});

describe('the audit trail', () => {
  const entry = (at: number, about: object) =>
    ({ at, kind: 'seen', by: 'mia', facts: {}, ...about }) as const;

  test('is read page by page, of a run, of a question, of both', async () => {
    const entries = Array.from({ length: 7 }, (_, index) =>
      entry(index, { runId: index % 2 ? "o'brien" : 'r%', ...(index > 3 && { askId: 'A:1' }) }),
    );
    await store.appendAudit('t', entries);
    const seqs = async (query: object) =>
      (await store.readAudit('t', { limit: 2, ...query })).map(({ seq }) => seq);
    expect(await seqs({})).toEqual([1, 2]);
    expect(await seqs({ after: 6 })).toEqual([7]);
    expect(await seqs({ runId: 'r%', after: 1 })).toEqual([3, 5]);
    expect(await seqs({ runId: "o'brien", askId: 'A:1' })).toEqual([6]);
    expect(await seqs({ askId: 'a:1' })).toEqual([]);
    await expect(seqs({ after: 0.5 })).rejects.toMatchObject({ code: 'InvalidRequest' });
  });
});

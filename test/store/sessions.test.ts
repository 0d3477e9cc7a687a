import type { SessionSave } from '../../store/sessions.js';
import type { Store } from '../../store/store.js';
import { cleanUp, eventsFrom, newStore } from './fixtures.js';

afterAll(cleanUp);

let store: Store;
beforeEach(async () => {
  ({ store } = await newStore());
});

const save = (changes: Partial<SessionSave> = {}) =>
  store.saveSession({
    tenant: 'default',
    sessionId: 's1',
    base: 0,
    head: 'head-1',
    runId: 'r1',
    agent: 'helper',
    caller: 'ada',
    cwd: '/home',
    title: 'Where is it?',
    carry: { v: 1, taskId: 't1', step: 2, reactiveAttempts: 1, state: { a: { text: 'x' } } },
    at: 1_000,
    ...changes,
  });

describe('a stored session', () => {
  it('is what the run left that stored it last', async () => {
    expect(await save()).toBe(1);
    expect(await save({ base: 1, runId: 'r2', head: 'head-2', title: 'And?', at: 2_000 })).toBe(2);
    expect(await store.getSession('default', 's1')).toMatchObject({
      revision: 2,
      head: 'head-2',
      runId: 'r2',
      title: 'Where is it?',
      createdAt: 1_000,
      updatedAt: 2_000,
      carry: { step: 2, state: { a: { text: 'x' } } },
    });
  });

  it('is never overwritten by a run that began with an older one', async () => {
    await save();
    await save({ base: 1, runId: 'r2', head: 'head-2' });
    expect(await save({ base: 1, runId: 'r3', head: 'head-3' })).toBeUndefined();
    expect(await save({ base: 0, runId: 'r4', head: 'head-4' })).toBeUndefined();
    expect(await store.getSession('default', 's1')).toMatchObject({ head: 'head-2', revision: 2 });
  });

  it('is stored again by the same run, and remembers what that run began with', async () => {
    await save();
    await save({ base: 1, runId: 'r2', head: 'head-2' });
    expect(await save({ base: 1, runId: 'r2', head: 'head-2b' })).toBe(2);
    expect(await store.getSession('default', 's1')).toMatchObject({
      head: 'head-2b',
      revision: 2,
      before: { head: 'head-1' },
    });
  });

  it('belongs to its tenant', async () => {
    await save();
    expect(await store.getSession('other', 's1')).toBeUndefined();
    expect(await store.listSessions('other', { limit: 10 })).toEqual([]);
    expect(await store.latestSession('other', { caller: 'ada', cwd: '/home' })).toBeUndefined();
    expect(await save({ tenant: 'other' })).toBe(1);
  });

  it('is found as the latest of its caller at its place', async () => {
    await save({ at: 5_000 });
    await save({ sessionId: 's2', at: 6_000 });
    await save({ sessionId: 's3', cwd: '/elsewhere', at: 9_000 });
    await save({ sessionId: 's4', caller: 'bob', at: 9_000 });
    const latest = (caller: string, cwd: string) => store.latestSession('default', { caller, cwd });
    expect(await latest('ada', '/home')).toMatchObject({ sessionId: 's2' });
    expect(await latest('ada', '/elsewhere')).toMatchObject({ sessionId: 's3' });
    expect(await latest('eve', '/home')).toBeUndefined();
  });

  it('is listed newest first, page by page, also of one caller', async () => {
    for (const n of [1, 2, 3, 4]) await save({ sessionId: `s${n}`, at: n < 3 ? 1_000 : 2_000 });
    await save({ sessionId: 'other', caller: 'bob', at: 3_000 });
    const first = await store.listSessions('default', { limit: 2, caller: 'ada' });
    expect(first.map(({ sessionId }) => sessionId)).toEqual(['s4', 's3']);
    const { updatedAt, sessionId } = first[1]!;
    const next = { limit: 9, caller: 'ada', before: { updatedAt, sessionId } };
    const rest = await store.listSessions('default', next);
    expect(rest.map((entry) => entry.sessionId)).toEqual(['s2', 's1']);
  });

  it('knows its runs that have not ended', async () => {
    const at = { tenant: 'default', runId: 'r1', execution: 'e' };
    const init = {
      type: 'session_init',
      agent: 'helper',
      taskId: 'r1',
      goal: { text: 'x' },
      model: 'm',
      tools: [],
      sessionId: 's1',
      versions: {},
    } as const;
    await store.appendEvents(at, eventsFrom(0, [init]));
    expect(await store.openRunsOf('default', 's1')).toEqual(['r1']);
    expect(await store.openRunsOf('other', 's1')).toEqual([]);
    await store.noteHead({ tenant: 'default', runId: 'r1', head: 'abc' });
    expect(await store.getRun('default', 'r1')).toMatchObject({ sessionId: 's1', head: 'abc' });
  });
});

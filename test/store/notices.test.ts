/** Notices: who is told of which question, by whom, and when next. */
import type { EventBody } from '../../core/state/event.js';
import type { NoticeName } from '../../store/notices.js';
import type { Store } from '../../store/store.js';
import {
  askView,
  cleanUp,
  eventsFrom,
  HOSTILE_NAMES,
  newStore,
  rawRows,
  withoutLaterTables,
  SESSION_INIT,
} from './fixtures.js';

afterEach(cleanUp);

const SOURCE = { tenant: 'default', runId: 'r1', execution: 'e1' };
const TO_OPEN = { target: 'ops', at: 100, limit: 100 };
const turn = (by: string, at = 100) => ({ by, at, until: at + 50 });
const asked = (askId: string, openedAt = 1001): EventBody => ({
  type: 'approval_requested',
  ...askView(askId, { openedAt }),
});
const closed = (askId: string): EventBody => ({
  type: 'approval_resolved',
  askId,
  outcome: 'approved',
  by: ['mia'],
  waitedMs: 1,
});

async function storeWith(...askIds: readonly string[]) {
  const opened = await newStore();
  const bodies = askIds.map((askId) => asked(askId));
  await opened.store.appendEvents(SOURCE, eventsFrom(0, [SESSION_INIT, ...bodies]));
  return opened;
}

async function due(store: Store, at = 100): Promise<readonly NoticeName[]> {
  return store.dueNotices({ target: 'ops', at, limit: 100 });
}

test('each open question gets one notice for each target, whoever looks and however often', async () => {
  const { store, place } = await storeWith('r1:0', 'r1:1');
  const { store: other } = await newStore(place);
  const opened = await Promise.all([store, other, store].map((one) => one.openNotices(TO_OPEN)));
  expect(opened.reduce((sum, count) => sum + count)).toBe(2);
  expect(await store.openNotices({ ...TO_OPEN, target: 'mail' })).toBe(2);
  expect((await due(store)).map(({ askId }) => askId)).toEqual(['r1:0', 'r1:1']);
  expect(await due(store, 99)).toEqual([]);
});

test('of many that opened at the same moment the first by their ids come first, so many at a time', async () => {
  const { store } = await storeWith('b', 'a', 'c');
  const two = { ...TO_OPEN, limit: 2 };
  expect(await store.openNotices(two)).toBe(2);
  expect((await due(store)).map(({ askId }) => askId)).toEqual(['a', 'b']);
  expect(await store.openNotices({ ...two, at: 101 })).toBe(1);
  expect(await store.openNotices(two)).toBe(0);
  const found = await store.dueNotices({ ...two, at: 101 });
  expect(found.map(({ askId }) => askId)).toEqual(['a', 'b']);
});

test('names that mean something elsewhere mean themselves', async () => {
  const { store } = await newStore();
  for (const name of HOSTILE_NAMES) {
    const source = { tenant: name, runId: name, execution: 'e' };
    await store.appendEvents(source, eventsFrom(0, [SESSION_INIT, asked(name)]));
  }
  await store.openNotices({ ...TO_OPEN, tenants: HOSTILE_NAMES });
  for (const name of await store.dueNotices({ ...TO_OPEN, tenants: HOSTILE_NAMES })) {
    const claim = await store.claimNotice(name, turn(name.askId));
    expect(claim).toMatchObject({ tenant: name.askId, runId: name.askId });
    expect(await store.settleNotice(claim!, { state: 'sent' })).toBe(true);
    expect(await store.listNotices(claim!.ask)).toHaveLength(1);
  }
  expect(await due(store)).toEqual([]);
});

test('a target hears of its tenants only, and a message that is awaited is no news', async () => {
  const { store } = await newStore();
  const message = { ...asked('m:0'), type: 'input_request', kind: 'user_message' } as EventBody;
  for (const tenant of ['a', 'b']) {
    const source = { ...SOURCE, tenant };
    await store.appendEvents(source, eventsFrom(0, [SESSION_INIT, asked('r1:0'), message]));
  }
  expect(await store.openNotices({ ...TO_OPEN, tenants: [] })).toBe(0);
  expect(await store.openNotices({ ...TO_OPEN, tenants: ['b', 'c'] })).toBe(1);
  expect(await due(store)).toMatchObject([{ tenant: 'b', askId: 'r1:0' }]);
  // Opened for more tenants than it has by now.
  expect(await store.openNotices(TO_OPEN)).toBe(1);
  expect(await store.dueNotices({ ...TO_OPEN, tenants: ['c', 'a'] })).toMatchObject([
    { tenant: 'a' },
  ]);
  expect(await store.dueNotices({ ...TO_OPEN, tenants: [] })).toEqual([]);
});

test('of many who claim at once one has it, until its time is over', async () => {
  const { store, place } = await storeWith('r1:0');
  const { store: other } = await newStore(place);
  await store.openNotices(TO_OPEN);
  const [name] = await due(store);
  const claims = Array.from({ length: 20 }, (_, index) =>
    (index % 2 === 0 ? store : other).claimNotice(name!, turn(`s${index}`)),
  );
  const won = (await Promise.all(claims)).filter((claim) => claim !== undefined);
  expect(won).toMatchObject([{ tries: 1, ask: { askId: 'r1:0', runId: 'r1' } }]);
  expect(await due(store, 149)).toEqual([]);
  expect(await other.claimNotice(name!, turn('late', 149))).toBeUndefined();
  // Whoever had it may be dead.
  expect(await other.claimNotice(name!, turn('next', 150))).toMatchObject({ tries: 2 });
});

test('a sender whose claim ran out says nothing any more, also when the next one is itself', async () => {
  const { store } = await storeWith('r1:0');
  await store.openNotices(TO_OPEN);
  const [name] = await due(store);
  const first = await store.claimNotice(name!, turn('a', 100));
  const second = await store.claimNotice(name!, turn('a', 200));
  expect(await store.settleNotice(first!, { state: 'given_up', fault: 'late' })).toBe(false);
  expect(await store.settleNotice(second!, { state: 'sent' })).toBe(true);
  expect(await store.settleNotice(second!, { state: 'given_up', fault: 'again' })).toBe(false);
  expect(await store.listNotices(second!.ask)).toMatchObject([{ state: 'sent', tries: 2 }]);
  expect(await due(store, 1e9)).toEqual([]);
});

test('what was not taken waits for its time, behind those that are due before', async () => {
  const { store } = await storeWith('r1:0', 'r1:1', 'r1:2');
  await store.openNotices(TO_OPEN);
  const names = await due(store);
  for (const [index, nextAt] of [900, 300].entries()) {
    const claim = await store.claimNotice(names[index]!, turn('a'));
    await store.settleNotice(claim!, { state: 'waiting', fault: 'status 500', nextAt });
  }
  expect((await due(store, 299)).map(({ askId }) => askId)).toEqual(['r1:2']);
  expect((await due(store, 900)).map(({ askId }) => askId)).toEqual(['r1:2', 'r1:1', 'r1:0']);
  expect(await store.claimNotice(names[0]!, turn('b', 899))).toBeUndefined();
  const again = await store.claimNotice(names[0]!, turn('b', 900));
  expect(again).toMatchObject({ tries: 2, firstAt: 100, fault: 'status 500' });
});

test('a receiver that wants a pause holds back all that waits for it, of its tenants, and nothing else', async () => {
  const { store, place } = await storeWith('r1:0', 'r1:1', 'r1:2');
  const { store: other } = await newStore(place);
  await store.appendEvents(
    { ...SOURCE, tenant: 't2' },
    eventsFrom(0, [SESSION_INIT, asked('r1:0')]),
  );
  await store.openNotices(TO_OPEN);
  await store.openNotices({ ...TO_OPEN, target: 'mail' });
  const [first, second] = await due(store);
  const claim = await store.claimNotice(first!, turn('a'));
  const beside = await other.claimNotice(second!, turn('b'));
  const pause = { state: 'waiting', fault: 'status 429', nextAt: 900, quietUntil: 900 } as const;
  expect(await store.settleNotice(claim!, pause, ['default'])).toBe(true);
  // Its own pause is shorter, and ends no longer one.
  const shorter = { state: 'waiting', fault: 'status 500', nextAt: 300 } as const;
  expect(await other.settleNotice(beside!, shorter)).toBe(true);
  expect(await due(other, 899)).toMatchObject([{ tenant: 't2' }]);
  expect(await due(other, 900)).toHaveLength(4);
  expect(await store.dueNotices({ ...TO_OPEN, target: 'mail' })).toHaveLength(4);
});

test('a question that is closed is told to nobody, and leaves no row behind', async () => {
  const { store, place } = await storeWith('r1:0', 'r1:1', 'r1:2');
  await store.openNotices(TO_OPEN);
  const [first, second, third] = await due(store);
  const claim = await store.claimNotice(second!, turn('a'));
  const given = await store.claimNotice(third!, turn('a'));
  await store.settleNotice(given!, { state: 'given_up', fault: 'status 410' });
  expect(await store.countGivenUpNotices()).toBe(1);
  await store.appendEvents(SOURCE, eventsFrom(4, ['r1:0', 'r1:1', 'r1:2'].map(closed)));
  expect(await store.countGivenUpNotices()).toBe(0);
  expect(await due(store)).toEqual([]);
  expect(await store.claimNotice(first!, turn('b'))).toBeUndefined();
  expect(await store.removeClosedNotices()).toBe(3);
  expect(await store.removeClosedNotices()).toBe(0);
  expect(await store.settleNotice(claim!, { state: 'sent' })).toBe(false);
  expect(await store.openNotices(TO_OPEN)).toBe(0);
  expect(await rawRows(place, 'select * from notices')).toEqual([]);
});

test('a question that a reset asks anew is another one', async () => {
  const { store } = await storeWith('r1:0');
  await store.openNotices(TO_OPEN);
  const [name] = await due(store);
  const claim = await store.claimNotice(name!, turn('a'));
  await store.settleNotice(claim!, { state: 'sent' });
  const reset = { ...SOURCE, execution: 'e2' };
  await store.appendEvents(reset, eventsFrom(1, [asked('r1:0', 2002)]));
  expect(await store.openNotices(TO_OPEN)).toBe(1);
  expect(await due(store)).toMatchObject([{ askId: 'r1:0', openedAt: 2002 }]);
  // The row of the one before goes, its own stays.
  expect(await store.removeClosedNotices()).toBe(1);
  expect(await due(store)).toHaveLength(1);
});

test('a store with the first table of notices opens, and tells the questions that are open in it', async () => {
  const { store, place } = await storeWith('r1:0');
  await store.close();
  for (const statement of [
    'drop table notices',
    `create table notices (tenant text not null, target text not null, ask_id text not null,
      kind text not null, at bigint not null, outcome text not null,
      primary key (tenant, target, ask_id, kind))`,
    `insert into notices values ('default', 'ops', 'r1:0', 'asked', 7, 'sent')`,
  ]) {
    await rawRows(place, statement);
  }
  await withoutLaterTables(place);
  const { store: opened } = await newStore(place);
  const ask = await opened.getAsk('default', 'r1:0');
  expect(await opened.listNotices(ask!)).toEqual([]);
  expect(await opened.openNotices(TO_OPEN)).toBe(1);
  expect(await opened.listNotices(ask!)).toMatchObject([{ target: 'ops', state: 'waiting' }]);
});

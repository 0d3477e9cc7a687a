/** Archiving a closed segment: what is tried, told and kept of it, beside a run that goes on. */
import {
  archiveSegment,
  tryArchival,
  type Archiver,
} from '../../activities/run/archive-history.js';
import type { Scope } from '../../activities/scope.js';
import type { FetchedHistory } from '../../activities/fetch-history.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { startArchiver } from '../../worker/archiver.js';
import { until } from '../until.js';

const RUN = { tenant: 't', runId: 'r1' };
const NAMESPACE = 'default';
const NOT_THERE = Object.assign(new Error('workflow execution not found'), { code: 5 });
const nameOf = (segment: number) => ({ ...RUN, segment, execution: `e${segment}` });

let store: MemoryStore;
let clock: number;
let told: string[];
/** By execution; what is not in it the server does not have. */
let served: Map<string, FetchedHistory | Error>;
beforeAll(async () => {
  store = await openMemoryStore();
});
beforeEach(async () => {
  await store.empty();
  clock = 1_000_000;
  told = [];
  served = new Map();
});
afterAll(() => store.close());

const fetchHistory = async (_: string, execution: string): Promise<FetchedHistory> => {
  const found = served.get(execution) ?? NOT_THERE;
  if (found instanceof Error) throw found;
  return found;
};
const archiver = (): Archiver => ({
  store,
  clock: () => clock,
  fetchHistory,
  tell: (line) => void told.push(line),
});
const history = (continuedFrom?: string): FetchedHistory => ({
  json: Buffer.from('{"events":[]}'),
  ...(continuedFrom !== undefined && { continuedFrom }),
});
const waiting = () => store.listArchivals({ limit: 100 });
const archived = async () =>
  (await store.readHistories('t', 'r1')).map(({ segment, execution }) => [segment, execution]);

/** What open_run does at the begin of segment `segment`. */
async function segmentOpened(segment: number): Promise<void> {
  const scope = {
    namespace: NAMESPACE,
    fetchHistory,
    error: (line: string) => void told.push(line),
  } as unknown as Scope;
  const run = { ...RUN, traceId: 't' };
  const input = { v: 1, run, segment, previousExecution: `e${segment - 1}`, events: [] } as const;
  const deps = { store, clock: () => clock, providers: new Map(), config: undefined as never };
  await archiveSegment(deps, scope, input);
}

test('the history of the segment before is archived, and nothing is left to do', async () => {
  served.set('e0', history());
  await segmentOpened(1);
  expect(await archived()).toEqual([[0, 'e0']]);
  expect(await waiting()).toEqual([]);
  // A delivery that comes twice finds it done.
  served.clear();
  await segmentOpened(1);
  expect({ left: await waiting(), told }).toEqual({ left: [], told: [] });
});

test('a failure fails no run: it is told once with what to do, kept, and tried again ever later', async () => {
  served.set('e0', new Error('no\u001b[2J space\nleft'));
  await segmentOpened(1);
  expect(await waiting()).toMatchObject([
    { segment: 0, tries: 1, since: clock, fault: 'no [2J space left', nextAt: clock + 5_000 },
  ]);
  const pauses: number[] = [];
  for (let tries = 2; tries < 12; tries += 1) {
    clock = (await waiting())[0]!.nextAt;
    expect(await tryArchival(archiver(), nameOf(0))).toBe('waiting');
    pauses.push((await waiting())[0]!.nextAt - clock);
  }
  expect(pauses.slice(0, 3)).toEqual([15_000, 45_000, 135_000]);
  expect(Math.max(...pauses)).toBe(3_600_000);
  expect(told).toEqual([expect.stringMatching(/not archived yet: .*holdfast doctor lists/)]);
});

test('a history is lost when the server still says that it has none in a second try', async () => {
  await segmentOpened(1);
  expect(await waiting()).toMatchObject([{ state: 'waiting', tries: 1 }]);
  clock += 5_000;
  expect(await tryArchival(archiver(), nameOf(0))).toBe('history_lost');
  expect(await waiting()).toMatchObject([{ state: 'history_lost', lostAt: clock }]);
  expect(told.at(-1)).toMatch(/^history_lost: .*raise the retention of namespace default/);
});

test('a history is not lost when the server has said so only once, whatever failed before', async () => {
  served.set('e0', new Error('no connection'));
  await segmentOpened(1);
  served.clear();
  clock += 5_000;
  expect(await tryArchival(archiver(), nameOf(0))).toBe('waiting');
  clock += 15_000;
  expect(await tryArchival(archiver(), nameOf(0))).toBe('history_lost');
});

test('a namespace that is not there says nothing about a history', async () => {
  served.set('e0', Object.assign(new Error('Namespace default is not found.'), { code: 5 }));
  await segmentOpened(1);
  clock += 5_000;
  expect(await tryArchival(archiver(), nameOf(0))).toBe('waiting');
});

test('segments before it that nobody has noted are archived as well', async () => {
  served.set('e0', history()).set('e1', history('e0')).set('e2', history('e1'));
  await segmentOpened(3);
  expect(await waiting()).toMatchObject([{ ...nameOf(1), state: 'waiting', tries: 0 }]);
  const running = startArchiver({ ...archiver(), store, namespace: NAMESPACE, everyMs: 5 });
  await until(async () => (await archived()).length === 3);
  await running.stop();
  expect(await waiting()).toEqual([]);
});

test('what a worker that died has left is archived by the next one', async () => {
  await store.openArchival({ ...nameOf(0), namespace: NAMESPACE }, clock);
  await store.claimArchival(nameOf(0), { at: clock, until: clock + 60_000 });
  served.set('e0', history());
  clock += 60_000;
  const running = startArchiver({ ...archiver(), store, namespace: NAMESPACE, everyMs: 5 });
  await until(async () => (await archived()).length === 1);
  await running.stop();
  expect(await waiting()).toEqual([]);
});

test('a store that does not answer is told once, and asked again', async () => {
  let asked = 0;
  const dueArchivals = (): Promise<never> => {
    asked += 1;
    return Promise.reject(new Error('away'));
  };
  const away = { ...store, dueArchivals };
  const running = startArchiver({ ...archiver(), store: away, namespace: NAMESPACE, everyMs: 5 });
  await until(() => asked > 3);
  await running.stop();
  expect(told).toEqual([expect.stringMatching(/store does not answer.*holdfast doctor/)]);
});

test('a worker that ends does not wait for a server that does not answer', async () => {
  await store.openArchival({ ...nameOf(0), namespace: NAMESPACE }, clock);
  let asked = false;
  const hanging = (): Promise<never> => {
    asked = true;
    return new Promise(() => undefined);
  };
  const place = { ...archiver(), store, namespace: NAMESPACE, fetchHistory: hanging };
  const running = startArchiver({ ...place, everyMs: 5 });
  await until(() => asked);
  const before = performance.now();
  await running.stop();
  expect(performance.now() - before).toBeLessThan(10_000);
  // Another worker has it when this one's claim is over.
  const due = { namespace: NAMESPACE, at: clock + 60_000, limit: 10 };
  expect(await store.dueArchivals(due)).toEqual([nameOf(0)]);
});

/** A worker ends children whose parent is gone: from the rows of the store, and what the server says of their runs. */
import type { DescribedRun } from '../../activities/describe-run.js';
import type { ChildStart } from '../../store/children.js';
import type { AuditRow } from '../../pure/audit.js';
import { startSweeper, sweep, type SweeperSettings } from '../../worker/sweeper.js';
import { cleanUp, newStore } from '../store/fixtures.js';
import type { Store } from '../../store/store.js';
import { until } from '../until.js';

afterEach(cleanUp);

const NAMESPACE = 'default';
const ROOM = { atOnce: 50, inAll: 50 };
const RUNNING: DescribedRun = { state: 'running', parent: null };
const CLOSED: DescribedRun = { state: 'closed', parent: null };
const childOf = (parent: string): DescribedRun => ({ state: 'running', parent });

interface Bed {
  readonly store: Store;
  /** By run id; absent: the server has none. */
  readonly server: Map<string, DescribedRun | undefined>;
  readonly cancelled: string[];
  readonly told: string[];
  now: number;
  readonly settings: SweeperSettings;
  round(): Promise<void>;
  audit(): Promise<readonly AuditRow[]>;
}

async function newBed(place?: string): Promise<Bed & { readonly place: string }> {
  const { store, place: at } = await newStore(place);
  const server = new Map<string, DescribedRun | undefined>();
  const cancelled: string[] = [];
  const told: string[] = [];
  const bed = {
    store,
    place: at,
    server,
    cancelled,
    told,
    now: 1_000_000,
    settings: {
      store,
      namespace: NAMESPACE,
      clock: () => bed.now,
      describe: (runId: string) =>
        Promise.resolve<DescribedRun | undefined>(
          server.has(runId) ? server.get(runId) : { state: 'not_found' },
        ),
      cancel: (runId: string) => Promise.resolve(void cancelled.push(runId)),
      tell: (line: string) => void told.push(line),
    },
    async round() {
      bed.now += 60_000;
      await sweep(bed.settings, new AbortController().signal);
    },
    audit: () => store.readAudit('default', { limit: 100 }),
  };
  return bed;
}

async function register(store: Store, child: string, over: Partial<ChildStart> = {}) {
  const parent = child.replace(/:[ac]\d+$/, '');
  const n = Number(/\d+$/.exec(child)?.[0]);
  const place = { root: 'run', path: ['desk', 'auditor'], call: 'c' };
  const row = { tenant: 'default', child, parent, n, digest: 'd', start: '{}', place };
  await store.registerChild({ ...row, namespace: NAMESPACE, ...over }, ROOM);
}

test('A child whose parent has ended is sealed, told to stop and told in the audit trail, once.', async () => {
  const bed = await newBed();
  await register(bed.store, 'run:a1');
  bed.server.set('run', CLOSED).set('run:a1', childOf('run'));
  await bed.round();
  expect(bed.cancelled).toEqual(['run:a1']);
  expect(await bed.store.childRow('default', 'run:a1')).toMatchObject({ state: 'sealed' });
  await bed.round();
  // Whoever did not hear is told again; people are told once.
  expect(bed.cancelled).toEqual(['run:a1', 'run:a1']);
  expect(bed.told).toEqual(['Stopped run:a1: run, which started it, has ended without it.']);
  bed.server.set('run:a1', { state: 'closed', parent: 'run' });
  await bed.round();
  await bed.round();
  expect(await bed.audit()).toMatchObject([
    { kind: 'orphan_stopped', runId: 'run:a1', facts: { why: 'parent_closed', parent: 'run' } },
    { kind: 'orphan_ended', runId: 'run:a1', facts: { parent: 'run', costMicroUsd: 0 } },
  ]);
});

test('A cycle of a goal that is gone is an orphan like a sub-agent.', async () => {
  const bed = await newBed();
  const { tenant, child, parent, n, digest, start } = {
    tenant: 'default',
    child: 'goal:c3',
    parent: 'goal',
    n: 3,
    digest: 'd',
    start: '{}',
  };
  await bed.store.registerChild({ tenant, child, parent, n, digest, start });
  bed.server.set('goal', CLOSED).set('goal:c3', childOf('goal'));
  await bed.round();
  expect(bed.cancelled).toEqual(['goal:c3']);
});

test('A child is left alone while its parent runs, is paused or waits, until the parent gives it up.', async () => {
  const bed = await newBed();
  await register(bed.store, 'run:a1');
  bed.server.set('run', RUNNING).set('run:a1', childOf('run'));
  for (let round = 0; round < 5; round += 1) await bed.round();
  expect(bed.cancelled).toEqual([]);
  await bed.store.sealChild('default', 'run:a1');
  await bed.round();
  expect(bed.cancelled).toEqual(['run:a1']);
  expect(await bed.audit()).toMatchObject([{ facts: { why: 'given_up' } }]);
});

test('A server that is away ends nobody, and is told once.', async () => {
  const bed = await newBed();
  await register(bed.store, 'run:a1');
  bed.server.set('run', undefined).set('run:a1', childOf('run'));
  await expect(bed.round()).rejects.toThrow('does not say');
  bed.server.set('run', CLOSED).set('run:a1', undefined);
  await expect(bed.round()).rejects.toThrow('does not say');
  expect(bed.cancelled).toEqual([]);
  expect(await bed.store.childRow('default', 'run:a1')).toMatchObject({ state: 'open' });
  expect(await bed.audit()).toEqual([]);

  const clock = () => (bed.now += 60_000);
  const sweeper = startSweeper({ ...bed.settings, clock, everyMs: 5 });
  await until(() => bed.told.length > 0);
  bed.server.set('run:a1', childOf('run'));
  await until(() => bed.cancelled.length > 0);
  await sweeper.stop();
  expect(bed.told.filter((line) => line.includes('does not answer'))).toHaveLength(1);
});

test('Two workers that sweep at once tell each orphan once.', async () => {
  const one = await newBed();
  const other = await newBed(one.place);
  for (let n = 1; n <= 20; n += 1) {
    await register(one.store, `run:a${n}`);
    for (const bed of [one, other]) bed.server.set(`run:a${n}`, childOf('run')).set('run', CLOSED);
  }
  await Promise.all([one.round(), other.round(), one.round()]);
  expect(new Set([...one.cancelled, ...other.cancelled]).size).toBe(20);
  expect((await one.audit()).map(({ kind }) => kind)).toEqual(
    Array<string>(20).fill('orphan_stopped'),
  );
});

test('A run that has the id of a child and is of somebody else is never told anything.', async () => {
  const bed = await newBed();
  await register(bed.store, 'run:a1');
  bed.server.set('run', CLOSED).set('run:a1', { state: 'running', parent: null });
  await bed.round();
  await bed.round();
  expect(bed.cancelled).toEqual([]);
  expect(await bed.audit()).toEqual([]);
});

test('A row without a run is closed when its parent is gone, so that it has no place in its tree any more.', async () => {
  const bed = await newBed();
  await register(bed.store, 'run:a1:a1');
  bed.server.set('run', RUNNING).set('run:a1', CLOSED);
  await bed.round();
  expect(await bed.store.childRow('default', 'run:a1:a1')).toMatchObject({ state: 'sealed' });
  expect(await bed.audit()).toMatchObject([{ kind: 'orphan_ended', runId: 'run:a1:a1' }]);
});

test('Where the server knows nobody of a tree, the server may be another one, and nothing is done.', async () => {
  const bed = await newBed();
  await register(bed.store, 'run:a1');
  await register(bed.store, 'run:a1:a1');
  await bed.round();
  expect(await bed.store.childRow('default', 'run:a1')).toMatchObject({ state: 'open' });
  // The root is known: what is not known below it was forgotten.
  bed.now += 3_600_000;
  bed.server.set('run', CLOSED);
  await bed.round();
  expect(await bed.store.childRow('default', 'run:a1:a1')).toMatchObject({ state: 'sealed' });
  expect(bed.cancelled).toEqual([]);
});

test('Rows of parents on the server of another namespace are looked at there alone.', async () => {
  const bed = await newBed();
  await register(bed.store, 'run:a1', { namespace: 'other' });
  bed.server.set('run', CLOSED).set('run:a1', childOf('run'));
  await bed.round();
  expect(bed.cancelled).toEqual([]);
  const there = { ...bed.settings, namespace: 'other' };
  await sweep(there, new AbortController().signal);
  expect(bed.cancelled).toEqual(['run:a1']);
});

test('A round looks at 200 parents at most, and the next one goes on with the others.', async () => {
  const bed = await newBed();
  const asked = new Set<string>();
  const describe = (runId: string) => {
    asked.add(runId);
    return Promise.resolve(RUNNING);
  };
  await bed.store.together(async (store) => {
    for (let n = 0; n < 250; n += 1) {
      const child = `run${n}:a1`;
      const row = { tenant: 'default', child, parent: `run${n}`, n: 1, digest: 'd', start: '{}' };
      await store.registerChild(row);
    }
  });
  const settings = { ...bed.settings, describe };
  await sweep(settings, new AbortController().signal);
  expect(asked.size).toBe(200);
  await sweep(settings, new AbortController().signal);
  expect(asked.size).toBe(250);
});

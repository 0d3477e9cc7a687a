/**
 * Several real processes on one file. Each says when it is ready; then all start at the same moment. Each test is played on
 * one of the two databases, as the seed draws, and by a fast run one in three. HOLDFAST_WHOLE=1: all on both.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SCHEMA_VERSION } from '../../store/migrations.js';
import { isStoreUrl } from '../../store/postgres/store-url.js';
import { compiledPath } from '../compiled.js';
import { postgresBinaries } from '../postgres-server.js';
import { readToTheEnd } from '../read-to-the-end.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { cleanUp, databaseNow, newPlace, newStore, rawRows } from './fixtures.js';
import { until } from '../until.js';

beforeAll(() => saySeed('the database of each test of several processes'));
afterAll(cleanUp);

const isDrawn = postgresBinaries() !== undefined && !WHOLE;
const PLAYED_OF = process.env['HOLDFAST_FILES'] === 'fast' && !WHOLE ? 3 : 1;
let tests = SEED;
/** On the database that is drawn for it. */
function testOnOne(name: string, work: () => Promise<void>): void {
  const database = (tests += 1) % 2 === 0 ? 'sqlite' : 'postgres';
  if (tests % (2 * PLAYED_OF) > 1) return;
  if (!isDrawn || database === databaseNow()) test(name, work);
}

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: unknown[];
  readonly errors: string[];
  readonly exited: Promise<unknown>;
}

function start(place: string, job: string, id: number): Child {
  const script = compiledPath(join(__dirname, 'processes', 'worker.ts'));
  const child = spawn(process.execPath, [script, place, job, String(id)]);
  const lines: unknown[] = [];
  const errors: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
  child.stderr.on('data', (data) => errors.push(String(data)));
  return { process: child, lines, errors, exited: readToTheEnd(child) };
}

async function startTogether(place: string, jobs: readonly string[]): Promise<readonly Child[]> {
  const children = jobs.map((job, id) => start(place, job, id));
  await until(() => children.every((child) => child.lines[0] === 'ready'));
  for (const child of children) child.process.stdin.write('go\n');
  return children;
}

async function runTogether(place: string, jobs: readonly string[]): Promise<readonly Child[]> {
  const children = await startTogether(place, jobs);
  await Promise.all(children.map((child) => child.exited));
  expect(children.flatMap((child) => child.errors)).toEqual([]);
  expect(children.map((child) => child.process.exitCode)).toEqual(jobs.map(() => 0));
  return children;
}

testOnOne('four processes that open a new file at once all find it migrated', async () => {
  const place = await newPlace();
  const children = await runTogether(place, ['open', 'open', 'open', 'open']);
  for (const child of children) {
    expect(child.lines.at(-1)).toMatchObject({ schemaVersion: SCHEMA_VERSION });
  }
});

testOnOne(
  'four processes that claim the same keys at once: each key has exactly one winner',
  async () => {
    const { store, place } = await newStore();
    const children = await runTogether(place, ['claim', 'claim', 'claim', 'claim']);
    const wins = children.flatMap((child) => child.lines).filter(isWin);
    expect(wins.map((win) => win.won).sort()).toEqual(
      Array.from({ length: 50 }, (_, round) => `k${round}`).sort(),
    );
    for (const win of wins) {
      expect((await store.getLedgerRow('t', win.won))?.runId).toBe(`run-${win.by}`);
    }
  },
);

testOnOne(
  'processes that claim at once never pass a limit together, and use all of it',
  async () => {
    const { place } = await newStore();
    const jobs = ['claim-to-limit', 'claim-to-limit', 'claim-to-limit'];
    const outcomes = outcomesOf(await runTogether(place, jobs));
    expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(40);
    expect(outcomes.filter((outcome) => outcome === 'limit_exceeded')).toHaveLength(35);
    expect(await rawRows(place, `select name from effect_totals where amount = 4000`)).toHaveLength(
      2,
    );
    expect(await rawRows(place, `select key from ledger`)).toHaveLength(40);
  },
);

testOnOne(
  'processes that claim for the same business objects at once: each is paid for once',
  async () => {
    const { place } = await newStore();
    const outcomes = outcomesOf(
      await runTogether(place, ['claim-same', 'claim-same', 'claim-same']),
    );
    expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'repeats')).toHaveLength(20);
  },
);

testOnOne('once a freeze is set nothing is claimed any more, however many are at it', async () => {
  const { store, place } = await newStore();
  const jobs = ['claim-until-frozen', 'claim-until-frozen', 'claim-until-frozen'];
  const children = await startTogether(place, jobs);
  await until(() => children.every((child) => child.lines.length > 1));
  const scope = { kind: 'tool', pattern: 'pay' } as const;
  await store.setFreeze('t', { id: 'frz_1', scope, by: 'mia', reason: 'fraud', at: 1 });
  const count = `select count(*) as n from ledger`;
  const atOnce = await rawRows(place, count);
  await Promise.all(children.map((child) => child.exited));
  expect(outcomesOf(children).filter((outcome) => outcome === 'frozen')).toHaveLength(3);
  expect(await rawRows(place, count)).toEqual(atOnce);
});

function outcomesOf(children: readonly Child[]): readonly unknown[] {
  return children
    .flatMap((child) => child.lines)
    .filter((line): line is { readonly outcome: string } => Object.hasOwn(Object(line), 'outcome'))
    .map((line) => line.outcome);
}

testOnOne('processes that append at once lose nothing', async () => {
  const { store, place } = await newStore();
  await runTogether(place, ['append-some', 'append-some', 'append-some']);
  for (const id of [0, 1, 2]) {
    const run = { tenant: 't', runId: `run-${id}` };
    expect((await store.readEvents(run, { sinceSeq: 0, limit: 1000 })).events).toHaveLength(100);
  }
});

testOnOne(
  'executions that append to one run at once: one line, without a gap, and the projection knows its end',
  async () => {
    const { store, place } = await newStore();
    await runTogether(place, ['append-to-one', 'append-to-one', 'append-to-one']);
    const run = { tenant: 't', runId: 'shared' };
    const { events } = await store.readEvents(run, { sinceSeq: 0, limit: 1000 });
    expect(events.map((event) => event.stamp.seq)).toEqual(events.map((_, index) => index));
    expect((await store.getRun('t', 'shared'))?.lastSeq).toBe(events.length - 1);
    const live = await rawRows(place, `select seq from events where superseded = 0 order by seq`);
    expect(live).toHaveLength(events.length);
  },
);

testOnOne(
  'workers that append the same events at once: each event is there once, and both are told so',
  async () => {
    const { store, place } = await newStore();
    const children = await runTogether(place, ['append-same', 'append-same', 'append-same']);
    const run = { tenant: 't', runId: 'shared' };
    const { events, epoch } = await store.readEvents(run, { sinceSeq: 0, limit: 1000 });
    expect(events.map((event) => event.stamp.seq)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(epoch).toBe(0);
    for (const child of children) {
      expect(child.lines.filter(isAcknowledged).map((line) => line.acknowledged)).toEqual(
        events.map((_, index) => index + 1),
      );
    }
  },
);

testOnOne(
  'attempts that are started at once are numbered without gaps, and each has seen all before it',
  async () => {
    const { place } = await newStore();
    const children = await runTogether(place, ['attempts', 'attempts', 'attempts']);
    const starts = children.flatMap((child) => child.lines).filter(isStart);
    expect(starts.map((start) => start.number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 1),
    );
    for (const { number, seen } of starts) expect(seen).toBe(number - 1);
  },
);

testOnOne(
  'processes that write one conversation at once have one head, with all its nodes',
  async () => {
    const { place } = await newStore();
    const children = await runTogether(place, ['chain', 'chain', 'chain']);
    const heads = children.map((child) => child.lines.find(isHead));
    expect(heads).toEqual(heads.map(() => heads[0]));
    expect(heads[0]?.nodes).toBe(30);
  },
);

testOnOne(
  'kill -9 in the middle of appends keeps all that was acknowledged, whole batches, one line',
  async () => {
    const { store, place } = await newStore();
    const children = await startTogether(place, ['append', 'append']);
    await until(() => children.every((child) => child.lines.length > 40));
    for (const child of children) child.process.kill('SIGKILL');
    await Promise.all(children.map((child) => child.exited));

    if (!isStoreUrl(place)) {
      expect(await rawRows(place, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    }
    for (const [id, child] of children.entries()) {
      const acknowledged = child.lines.filter(isAcknowledged).at(-1)?.acknowledged ?? 0;
      const seqs = await allSeqs(id);
      expect(seqs.length).toBeGreaterThanOrEqual(acknowledged);
      expect(seqs.length % 5).toBe(0);
      expect(seqs).toEqual(seqs.map((_, index) => index));
      expect((await store.getRun('t', `run-${id}`))?.lastSeq).toBe(seqs.length - 1);
    }

    async function allSeqs(id: number): Promise<number[]> {
      const run = { tenant: 't', runId: `run-${id}` };
      const seqs: number[] = [];
      for (let page = 0; page < 1000; page += 1) {
        const { events } = await store.readEvents(run, { sinceSeq: seqs.length, limit: 1000 });
        if (events.length === 0) return seqs;
        seqs.push(...events.map((event) => event.stamp.seq));
      }
      return seqs;
    }
  },
);

interface Win {
  readonly won: string;
  readonly by: string;
}

function isWin(line: unknown): line is Win {
  return typeof line === 'object' && line !== null && 'won' in line;
}

function isAcknowledged(line: unknown): line is { readonly acknowledged: number } {
  return typeof line === 'object' && line !== null && 'acknowledged' in line;
}

function isStart(line: unknown): line is { readonly number: number; readonly seen: number } {
  return typeof line === 'object' && line !== null && 'seen' in line;
}

function isHead(line: unknown): line is { readonly head: string; readonly nodes: number } {
  return typeof line === 'object' && line !== null && 'nodes' in line;
}

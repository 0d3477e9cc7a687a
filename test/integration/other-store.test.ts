/**
 * `kill -9` of a worker that has a payment under way, and another worker with another store, or with an older copy of
 * it: nothing is paid twice, and what nobody can know is asked (G116).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { connect } from '../../client/index.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { openStoreAt } from '../../store/store.js';
import { holdfast as run } from './support/command.js';
import {
  ofType,
  openAsk,
  pay,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

const LIMIT_MS = 120_000;
const HEARTBEATS = { heartbeatMs: { repeatable: 2_000, single: 2_000 } };

let folder: string;
let world: World;
let own: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-stores-'));
  own = join(folder, 'own.db');
  world = await startWorld({ worker: false, storePlace: own });
});
afterAll(async () => {
  await world.stop();
  rmSync(folder, { recursive: true });
});

const paid = (runId: string): number => world.service.visits(runId, 'effect').length;

/** A payment that was made and has not come back yet. */
async function payingUntilKilled(runId: string, tool: string): Promise<RunHandle> {
  const held = world.service.hold(runId, 'after');
  const replies = [pay(tool), say('Done.')];
  const run = await world.start({ runId, replies, settings: HEARTBEATS });
  await held;
  return run;
}

/** The same, and its worker is killed before the payment can come back. */
async function killedAfterPaying(runId: string, tool: string): Promise<RunHandle> {
  const worker = await world.spawn();
  const run = await payingUntilKilled(runId, tool);
  await worker.kill();
  world.service.releaseAll();
  return run;
}

function copyOf(place: string, name: string): string {
  const copy = join(folder, name);
  const database = new Database(place);
  database.prepare('vacuum into ?').run(copy);
  database.close();
  return copy;
}

const holdfast = (store: string, ...words: readonly string[]) =>
  run({ ...world.place, store }, words);

/** The run as whoever works with that store sees it. */
async function seenIn(place: string, runId: string) {
  const store = await openStoreAt(place);
  const client = await connect({ ...world.place, store });
  const close = async (): Promise<void> => {
    await client.close();
    await store.close();
  };
  return { run: client.handle(runId), store, close };
}

const waitsFor = (run: RunHandle, what: string) =>
  until(`the wait for ${what}`, async () =>
    (await run.execution()).waits.find((wait) => wait.for === what),
  );

test(
  'a worker with another store waits for the right one, whatever the tool knows of its calls',
  async () => {
    const tools = ['pay.probed', 'pay.blind', 'pay.keyed'];
    const worker = await world.spawn();
    const runs = await Promise.all(tools.map((tool) => payingUntilKilled(`other-${tool}`, tool)));
    await worker.kill();
    world.service.releaseAll();
    const elsewhere = await world.spawn({ storePlace: join(folder, 'elsewhere.db') });
    for (const run of runs) {
      expect((await waitsFor(run, 'the right store')).message).toContain('store adopt');
      expect(world.service.visits(run.runId, 'probe')).toEqual([]);
      const { out } = await holdfast(own, 'show', run.runId);
      expect(out).toMatch(/The run waits for the right store since /);
    }
    await elsewhere.kill();
    const right = await world.spawn();
    const [probed, blind, keyed] = runs as [RunHandle, RunHandle, RunHandle];
    const ask = await openAsk(blind);
    await blind.answer(ask.askId, { kind: 'happened' }, { by: 'maria' });
    for (const run of runs) expect((await world.ended(run)).result.stopReason).toBe('completed');
    // A service that recognises its key has been called again, with the same key.
    expect([probed, blind, keyed].map(({ runId }) => paid(runId))).toEqual([1, 1, 2]);
    await right.kill();
  },
  LIMIT_MS,
);

test(
  'a run that another worker is to open waits for the store of its starter',
  async () => {
    const elsewhere = await world.spawn({ storePlace: join(folder, 'unopened.db') });
    const run = await world.start({ runId: 'unopened', replies: [say('Hello.')], wait: false });
    await waitsFor(run, 'the right store');
    expect((await world.raw.workflow.getHandle('unopened').describe()).status.name).toBe('RUNNING');
    await elsewhere.kill();
    const right = await world.spawn();
    expect((await world.ended(run)).result.stopReason).toBe('completed');
    await right.kill();
  },
  LIMIT_MS,
);

test(
  'an older copy that nobody declared is proven by the claim that it lacks',
  async () => {
    const run = await killedAfterPaying('undeclared', 'pay.blind');
    // As a replica that is a moment behind: everything but the claim.
    const database = new Database(copyOf(own, 'behind.db'));
    database.prepare(`delete from ledger where run_id = 'undeclared'`).run();
    database.close();
    const worker = await world.spawn({ storePlace: join(folder, 'behind.db') });
    const { run: seen, store: behind, close } = await seenIn(join(folder, 'behind.db'), run.runId);
    const ask = await openAsk(seen);
    expect(ask).toMatchObject({ kind: 'outcome', tool: 'pay.blind' });
    await seen.answer(ask.askId, { kind: 'happened' }, { by: 'maria' });
    expect((await seen.result({ timeoutMs: 30_000 })).stopReason).toBe('completed');
    expect(paid('undeclared')).toBe(1);
    const { events } = await behind.readEvents(
      { tenant: 'default', runId: 'undeclared' },
      { sinceSeq: 0, limit: 500 },
    );
    expect(warnings(events)).toContain('store_restored');
    expect(ofType(events, 'tool_reconciled')[0]?.steps.map(({ step }) => step)).toContain(
      'store_restored',
    );
    expect((await behind.identity(0)).epoch).toBe(2);
    expect((await world.store.identity(0)).epoch).toBe(1);
    await close();
    await worker.kill();
  },
  LIMIT_MS,
);

test(
  'a store that adopts the run asks about what it lacks, and refuses a run that does not wait for it',
  async () => {
    const run = await killedAfterPaying('adopted', 'pay.blind');
    const moved = copyOf(own, 'moved.db');
    const database = new Database(moved);
    database.prepare(`update store_identity set id = '${'e'.repeat(32)}'`).run();
    database.prepare(`delete from ledger where run_id = 'adopted'`).run();
    database.close();
    const early = await holdfast(moved, 'store', 'adopt', 'adopted', '--as', 'mia');
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining('does not wait') });
    const worker = await world.spawn({ storePlace: moved });
    await waitsFor(run, 'the right store');
    expect(await holdfast(moved, 'store', 'adopt', 'adopted')).toMatchObject({ code: 2 });
    const adopted = await holdfast(moved, 'store', 'adopt', 'adopted', '--as', 'mia', '--json');
    expect(JSON.parse(adopted.out)).toEqual({
      runId: 'adopted',
      id: 'e'.repeat(32),
      adopted: true,
    });
    const { run: seen, close } = await seenIn(moved, 'adopted');
    const ask = await openAsk(seen);
    expect(ask).toMatchObject({ kind: 'outcome' });
    await seen.answer(ask.askId, { kind: 'happened' }, { by: 'maria' });
    expect((await seen.result({ timeoutMs: 30_000 })).stopReason).toBe('completed');
    expect(paid('adopted')).toBe(1);
    await close();
    await worker.kill();
  },
  LIMIT_MS,
);

test(
  'what a restored copy lacks is told where people look, and the runs themselves are asked',
  async () => {
    const worker = await world.spawn();
    const copy = copyOf(own, 'restored.db');
    const run = await world.start({ runId: 'between', replies: [pay('pay.asked'), say('Done.')] });
    const { askId } = await openAsk(run);
    const early = await holdfast(copy, 'list');
    expect(early.err).not.toContain('older copy');
    await holdfast(copy, 'store', 'restored', '--as', 'mia');
    const noticed =
      /older copy of the store took its place \(noticed \d{4}-.*docs\/operate\/postgres\.md/;
    for (const words of [['approvals'], ['approvals', '--run', 'between']]) {
      const { out, err } = await until(`the question in ${words.join(' ')}`, async () => {
        const told = await holdfast(copy, ...words);
        return told.out.includes(`question  ${askId}`) ? told : undefined;
      });
      expect(err).toMatch(noticed);
      expect(out).toMatch(new RegExp(`holdfast approve .*${askId} --as NAME`));
    }
    expect((await holdfast(copy, 'approvals', '--kind', 'budget')).out).not.toContain(askId);
    const { out: listed } = await holdfast(copy, 'approvals', '--json');
    expect(JSON.parse(listed)).toMatchObject({ asks: [{ askId, outcome: 'pending' }] });
    expect((await holdfast(own, 'approvals')).out.split(`question  ${askId}`)).toHaveLength(2);
    for (const words of [['list'], ['effects', '--order', 'A-between']])
      expect((await holdfast(copy, ...words)).err).toMatch(noticed);
    expect((await holdfast(copy, 'show', 'between')).out).toMatch(
      /The store has nothing of this run: an older copy of the store took its place/,
    );
    expect((await holdfast(copy, 'doctor')).out).toMatch(/restored +an older copy of the store/);
    const later = copyOf(own, 'restored-later.db');
    await holdfast(later, 'store', 'restored', '--as', 'mia');
    expect((await holdfast(later, 'approvals')).out.split(`question  ${askId}`)).toHaveLength(2);
    const decided = await holdfast(copy, 'approve', askId, '--as', 'lea', '--role', 'manager');
    expect(decided.code).toBe(0);
    await world.ended(run);
    expect((await holdfast(copy, 'show', 'between')).out).toContain(
      'its last record is not in the restored store',
    );
    await worker.kill();
    const lines: string[] = [];
    const tell = (line: string): void => void lines.push(line);
    await world.retire(await world.serve({ storePlace: later, say: tell }));
    expect(lines).toContainEqual(expect.stringMatching(/^An older copy of the store has taken/));
  },
  LIMIT_MS,
);

test('a store that is too new for the program is not called out of reach', async () => {
  const place = copyOf(own, 'newer.db');
  const database = new Database(place);
  database.prepare(`insert into schema_migrations (version, name) values (999, 'later')`).run();
  database.close();
  const told = await holdfast(place, 'approve', 'r1:1', '--as', 'mia', '--role', 'manager');
  expect(told.code).toBe(1);
  expect(told.err).toMatch(/written by a newer Holdfast: its schema is version 999/);
  expect(told.err).toContain('Upgrade Holdfast on this machine');
  expect(told.err).not.toContain('cannot be reached');
});

test('people tell a store that it was restored, and see it', async () => {
  const place = join(folder, 'shown.db');
  await (await openStoreAt(place)).close();
  const asked = await holdfast(place, 'store', 'restored');
  expect(asked).toMatchObject({ code: 2, err: expect.stringContaining('--as is needed') });
  const told = await holdfast(place, 'store', 'restored', '--as', 'mia', '--reason', 'the disk');
  expect(told).toMatchObject({ code: 0, out: expect.stringMatching(/is in epoch 2 now/) });
  const { out } = await holdfast(place, 'store', 'show', '--json');
  expect(JSON.parse(out)).toMatchObject({
    place,
    epoch: 2,
    restorations: [{ by: 'mia', reason: 'the disk' }],
  });
  expect((await holdfast(place, 'store', 'show')).out).toMatch(/epoch 2\.\n.*mia: the disk/);
  expect(await holdfast(join(folder, 'none.db'), 'store', 'show')).toMatchObject({
    err: expect.stringContaining('There is no store'),
  });
});

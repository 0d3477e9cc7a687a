/**
 * An older copy of the store takes its place while Temporal goes on, in either database: nothing is paid twice, what
 * nobody can know is asked, and people are told what the copy lacks, at the terminal and at the desk.
 */
import { connect } from '../../client/index.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { openStoreAt } from '../../store/store.js';
import { databases, storeCopies, type StoreCopies } from '../store-copies.js';
import { holdfast as run } from './support/command.js';
import { startDesk, tokenOf, type TestDesk } from './support/desk.js';
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
const NOTICED =
  /older copy of the store took its place \(noticed \d{4}-.*docs\/operate\/postgres\.md/;

describe.each(databases())('with a store in %s', (database) => {
  let copies: StoreCopies;
  let world: World;
  let own: string;
  beforeAll(async () => {
    copies = storeCopies(database);
    own = await copies.fresh();
    world = await startWorld({ worker: false, storePlace: own });
  });
  afterAll(async () => {
    await world?.stop();
    await copies?.end();
  });

  const holdfast = (store: string, ...words: readonly string[]) =>
    run({ ...world.place, store }, words);

  /** A copy of which somebody has said that it is one. */
  async function restoredCopy(): Promise<string> {
    const copy = copies.copyOf(own);
    await holdfast(copy, 'store', 'restored', '--as', 'mia');
    return copy;
  }

  const waiting = async (runId: string): Promise<RunHandle> => {
    const waits = await world.start({ runId, replies: [pay('pay.asked'), say('Done.')] });
    const { askId } = await openAsk(waits);
    await until('the question in the store', () => world.store.getAsk('default', askId));
    return waits;
  };

  /** A desk over that store, and commands that ask it. */
  async function withDesk(place: string, work: (desk: TestDesk) => Promise<void>) {
    const store = await openStoreAt(place);
    const desk = await startDesk({ ...world, store });
    try {
      await work(desk);
    } finally {
      await desk.stop();
      await store.close();
    }
  }
  const atDesk = (desk: TestDesk, ...words: readonly string[]) =>
    run({ ...world.place, store: '/nowhere/none.db' }, [...words, '--desk', desk.url], {
      HOLDFAST_TOKEN: tokenOf('mia'),
    });

  test(
    'an older copy that nobody declared is proven by the claim that it lacks, if it does not say so itself',
    async () => {
      const first = await world.spawn();
      const held = world.service.hold('undeclared', 'after');
      const replies = [pay('pay.blind'), say('Done.')];
      await world.start({ runId: 'undeclared', replies, settings: HEARTBEATS });
      await held;
      await first.kill();
      world.service.releaseAll();
      // As a replica that is a moment behind: everything but the claim.
      const place = copies.copyOf(own);
      copies.change(place, `delete from ledger where run_id = 'undeclared'`);
      const worker = await world.spawn({ storePlace: place });
      const behind = await openStoreAt(place);
      const client = await connect({ ...world.place, store: behind });
      const seen = client.handle('undeclared');
      const ask = await openAsk(seen);
      expect(ask).toMatchObject({ kind: 'outcome', tool: 'pay.blind' });
      await seen.answer(ask.askId, { kind: 'happened' }, { by: 'maria' });
      expect((await seen.result({ timeoutMs: 30_000 })).stopReason).toBe('completed');
      expect(world.service.visits('undeclared', 'effect')).toHaveLength(1);
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
      await client.close();
      await behind.close();
      await worker.kill();
    },
    LIMIT_MS,
  );

  test(
    'what a restored copy lacks is told where people look, and the runs themselves are asked',
    async () => {
      const worker = await world.spawn();
      const copy = copies.copyOf(own);
      const between = await waiting('between');
      const { askId } = await openAsk(between);
      // A database that was restored from a dump says so by itself.
      const early = (await holdfast(copy, 'list')).err;
      if (database === 'postgres') expect(early).toMatch(NOTICED);
      else expect(early).not.toContain('older copy');
      await holdfast(copy, 'store', 'restored', '--as', 'mia');
      for (const words of [['approvals'], ['approvals', '--run', 'between']]) {
        const { out, err } = await until(`the question in ${words.join(' ')}`, async () => {
          const told = await holdfast(copy, ...words);
          return told.out.includes(`question  ${askId}`) ? told : undefined;
        });
        expect(err).toMatch(NOTICED);
        expect(out).toMatch(new RegExp(`holdfast approve .*${askId} --as NAME`));
      }
      expect((await holdfast(copy, 'approvals', '--kind', 'budget')).out).not.toContain(askId);
      const { out: listed } = await holdfast(copy, 'approvals', '--json');
      expect(JSON.parse(listed)).toMatchObject({ asks: [{ askId, outcome: 'pending' }] });
      expect((await holdfast(own, 'approvals')).out.split(`question  ${askId}`)).toHaveLength(2);
      for (const words of [['list'], ['effects', '--order', 'A-between']]) {
        expect((await holdfast(copy, ...words)).err).toMatch(NOTICED);
        const { out } = await holdfast(copy, ...words, '--json');
        expect(JSON.parse(out)).toMatchObject({ restoredAt: expect.any(Number) });
      }
      expect((await holdfast(copy, 'show', 'between')).out).toMatch(
        /The store has nothing of this run, or not yet: an older copy of the store took its place/,
      );
      expect((await holdfast(copy, 'doctor')).out).toMatch(/restored +an older copy of the store/);
      // Another store of the namespace, which was restored as well: neither the run nor its question is its own.
      const other = await copies.fresh();
      await (await openStoreAt(other)).close();
      await holdfast(other, 'store', 'restored', '--as', 'mia');
      for (const words of [['approvals'], ['approvals', '--run', 'between']])
        expect((await holdfast(other, ...words)).out).not.toContain(askId);
      const stranger = (await holdfast(other, 'show', 'between')).out;
      expect(stranger).toContain('set HOLDFAST_STORE to the store of its workers');
      expect(stranger).not.toContain('older copy');
      const later = await restoredCopy();
      expect((await holdfast(later, 'approvals')).out.split(`question  ${askId}`)).toHaveLength(2);
      const decided = await holdfast(copy, 'approve', askId, '--as', 'lea', '--role', 'manager');
      expect(decided.code).toBe(0);
      await world.ended(between);
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

  test(
    'the desk says the same, to whoever answers as well, and commands that ask it pass it on',
    async () => {
      await withDesk(own, async (desk) => {
        expect((await desk.get('/v1/store')).body).toEqual({});
        expect((await atDesk(desk, 'list')).err).not.toContain('older copy');
      });
      await withDesk(await restoredCopy(), async (desk) => {
        const told = { restoredAt: expect.any(Number) };
        for (const path of ['/v1/store', '/v1/inbox'])
          expect((await desk.get(path, 'clerk')).body).toMatchObject(told);
        expect((await desk.get('/v1/runs')).body).toMatchObject(told);
        for (const words of [['list'], ['approvals'], ['effects', '--order', 'A-1']]) {
          const { code, err } = await atDesk(desk, ...words);
          expect([code, err]).toEqual([0, expect.stringMatching(NOTICED)]);
          expect(JSON.parse((await atDesk(desk, ...words, '--json')).out)).toMatchObject(told);
        }
      });
    },
    LIMIT_MS,
  );

  test(
    'a run that ended after the copy was made stands as it ended, at the terminal and at the desk',
    async () => {
      const worker = await world.spawn();
      const ending = await waiting('ended-later');
      const { askId } = await openAsk(ending);
      const copy = await restoredCopy();
      await ending.reject(askId, { by: 'lea', roles: ['manager'] });
      await world.ended(ending);
      await worker.kill();
      const line = await until('how it ended', async () =>
        (await holdfast(copy, 'list')).out
          .split('\n')
          .find((told) => told.includes('ended-later') && told.includes('completed')),
      );
      expect(line).toContain('completed; its record is not in the store');
      const open = await holdfast(copy, 'list', '--status', 'awaiting_approval');
      expect(open.out).not.toContain('ended-later');
      expect((await holdfast(copy, 'approvals')).out).not.toContain(askId);
      const shown = (await holdfast(copy, 'show', 'ended-later')).out;
      expect(shown).toMatch(/\ncompleted · started/);
      expect(shown).not.toContain(`question  ${askId}`);
      const listed = (await holdfast(own, 'list')).out.split('\n');
      expect(listed.find((told) => told.includes('ended-later'))).not.toContain('record');
      await withDesk(copy, async (desk) => {
        const stands = { runId: 'ended-later', status: 'completed', notStored: true };
        const { body } = await desk.get('/v1/runs');
        expect(body?.['items']).toContainEqual(expect.objectContaining(stands));
        expect((await desk.get('/v1/runs/ended-later')).body).toMatchObject({
          ...stands,
          pending: [],
        });
        expect((await atDesk(desk, 'show', 'ended-later')).out).toContain(
          'The run has ended; its record is not in the store.',
        );
      });
      const row = await (async () => {
        const store = await openStoreAt(copy);
        const found = await store.getRun('default', 'ended-later');
        await store.close();
        return found;
      })();
      expect(row).toMatchObject({ status: 'awaiting_approval' });
    },
    LIMIT_MS,
  );

  test(
    'a run whose conversation the copy lacks ends when a person cancels it, without a wait of minutes',
    async () => {
      const copy = await restoredCopy();
      const worker = await world.spawn();
      await waiting('lost');
      await worker.kill();
      const restored = await world.spawn({ storePlace: copy });
      expect((await holdfast(copy, 'cancel', 'lost')).code).toBe(0);
      const { transcript } = await world.client.handle('lost').result({ timeoutMs: LIMIT_MS });
      expect(transcript).toBe('incomplete');
      const { out } = await holdfast(copy, 'show', 'lost', '--json');
      expect(JSON.parse(out)).toMatchObject({ run: { status: 'cancelled' } });
      await restored.kill();
    },
    LIMIT_MS,
  );
});

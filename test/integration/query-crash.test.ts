/**
 * A query whose workers die under it, with its store in a file or in PostgreSQL. HOLDFAST_WHOLE=1: in both;
 * HOLDFAST_SEED: of the draw.
 */
import type { CanUseTool } from '../../client/index.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import { drawn } from '../draw.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';
import { SEED, WHOLE } from '../seed.js';
import { IMPATIENT } from './support/patience.js';
import { all, ask, follow, resultOf, statuses, words } from './support/queries.js';
import { pay, read, say, startWorld, type World } from './support/world.js';

const SHORT = { heartbeatMs: { repeatable: 2_000, single: 2_000 } } as const;

const places = ['a file', ...(postgresBinaries() === undefined ? [] : ['PostgreSQL'])];

describe.each(WHOLE ? places : drawn(places, 1, SEED))('with the store in %s', (place) => {
  let world: World;
  beforeAll(async () => {
    const storePlace = place === 'PostgreSQL' ? { storePlace: await newPostgresUrl() } : {};
    world = await startWorld({ worker: false, ...storePlace, ...IMPATIENT });
  });
  afterAll(() => world.stop());

  test('an answer that is on its way when the worker dies counts, and counts once', async () => {
    const first = await world.spawn();
    let asked = 0;
    const canUseTool: CanUseTool = async () => {
      asked += 1;
      await first.kill();
      // There while the answer waits for somebody who takes it, or comes after it.
      setTimeout(() => void world.spawn(), 3_000);
      return { behavior: 'allow' };
    };
    const replies = [read('cup'), pay('pay.asked', 700), say('Paid.')];
    const options = { canUseTool, includePartialMessages: true, settings: SHORT } as const;
    const messages = await all(ask(world, { runId: 'on-its-way', replies, ...options }));
    expect(resultOf(messages)).toMatchObject({ subtype: 'success', result: 'Paid.' });
    expect(statuses(messages)).toEqual([
      'approval_requested awaiting_approval',
      'approval_resolved approved',
    ]);
    expect([asked, world.service.visits('on-its-way', 'effect').length]).toEqual([1, 1]);
    const uuids = messages.map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(uuids.length);

    const again = await all(follow(world, 'on-its-way', { includePartialMessages: true }));
    expect(again.map(({ uuid }) => uuid)).toEqual(uuids);
  });

  test('an answer that a frozen worker took reaches the next one, and counts once', async () => {
    const frozen = await world.spawn();
    const canUseTool: CanUseTool = async () => {
      frozen.freeze();
      return { behavior: 'allow' };
    };
    const replies = [pay('pay.asked', 700), say('Paid.')];
    const asked = ask(world, { runId: 'frozen', replies, canUseTool, settings: SHORT });
    const messages: SDKMessage[] = [];
    for await (const message of asked) {
      messages.push(message);
      if (words(message) === 'assistant') await world.spawn();
    }
    frozen.unfreeze();
    expect(messages.map(words)).toEqual([
      'system/init',
      'assistant',
      'system/status',
      'system/status',
      'tool_progress',
      'tool_progress',
      'user',
      'assistant',
      'result/success',
    ]);
    expect(world.service.visits('frozen', 'effect')).toHaveLength(1);
  });
});

/** The store in PostgreSQL under a real run: what the file does, it does. */
import type { RunEvent } from '../../core/state/event.js';
import { isStoreUrl } from '../../store/place.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';
import { APPROVER } from './support/agents.js';
import {
  call,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  type Ended,
  type World,
} from './support/world.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;
const settings = { heartbeatMs: { repeatable: 2_000, single: 2_000 } } as const;

interface Outcome extends Ended {
  /** Keys that something was done under. */
  readonly effects: readonly string[];
  readonly live: readonly RunEvent[];
}

/** A run that waits for a person, whose workers die while it waits and in the middle of a payment. */
async function play(world: World): Promise<Outcome> {
  const first = await world.spawn();
  const run = await world.start({
    runId: 'story',
    replies: [
      read(),
      call('odd.read', { how: 'controls' }),
      call('odd.read', { how: 'surrogates' }),
      pay('pay.asked'),
      pay('pay.probed', 200),
      say('Finished, with a \0 in it.'),
    ],
    settings,
  });
  const live: RunEvent[] = [];
  const watching = (async () => {
    for await (const event of run.events()) live.push(event);
  })();
  const ask = await openAsk(run);
  await first.kill();
  const second = await world.spawn();
  const firstPayment = world.service.hold('story', 'after');
  await run.approve(ask.askId, APPROVER);
  await firstPayment;
  const secondPayment = world.service.hold('story', 'after');
  world.service.releaseAll();
  await secondPayment;
  await second.kill();
  await world.spawn();
  const ended = await world.ended(run);
  await watching;
  const effects = world.service.visits('story', 'effect').map(({ key }) => key);
  return { ...ended, effects, live };
}

/** What is the same whatever the times, the ids of executions and the attempts that were lost. */
function told({ result, events, effects }: Outcome) {
  const { status, stopReason, completed } = result;
  return {
    result: { status, stopReason, completed, answer: result.answer, cost: result.costMicroUsd },
    events: events.map(({ type }) => type),
    effects,
  };
}

onPostgres('a run with an approval and two killed workers', () => {
  const outcomes = new Map<string, Outcome>();
  const worlds: World[] = [];
  beforeAll(async () => {
    for (const storePlace of [undefined, await newPostgresUrl()]) {
      const world = await startWorld({
        worker: false,
        ...(storePlace !== undefined && { storePlace }),
      });
      worlds.push(world);
      outcomes.set(isStoreUrl(world.storePlace) ? 'postgres' : 'sqlite', await play(world));
    }
  }, 240_000);
  afterAll(async () => {
    for (const world of worlds) await world.stop();
  });

  test('comes to the same end in PostgreSQL as in a file', () => {
    const [sqlite, postgres] = ['sqlite', 'postgres'].map((name) => told(outcomes.get(name)!));
    expect(postgres).toEqual(sqlite);
    expect(postgres!.result.completed).toBe(true);
    expect(postgres!.effects).toHaveLength(2);
  });

  test('is followed while it goes on, each event once', () => {
    for (const { live, events } of outcomes.values()) expect(live).toEqual(events);
  });

  test('keeps its password out of what it leaves', () => {
    const [, world] = worlds;
    const { password } = new URL(world!.storePlace);
    const { history, events, result } = outcomes.get('postgres')!;
    expect(JSON.stringify({ history, events, result })).not.toContain(password);
  });
});

/**
 * Workers killed (SIGKILL) in the middle of a reply that somebody reads along, over and over: the run comes to
 * one message for each call, readers see every attempt and no chunk twice, and no finished reply is asked for
 * again. Readers leave and come back at random places meanwhile.
 *
 * HOLDFAST_WHOLE=1: fifty workers die, as is promised; HOLDFAST_SEED: of all choices.
 */
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { StreamChunk } from '../../pure/stream.js';
import { drawBelow, seededRandom, type Random } from '../../testing/index.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { messagesIn, tokensOf } from './support/token-reader.js';
import { ofType, read, say, startWorld, type World } from './support/world.js';

const MINUTE = 60_000;
const KILLS = WHOLE ? 50 : 3;
const LOOK = 'Let me look at the lamp first, then I can tell you what colour it has today.';
const ANSWER = 'The lamp is blue, and it was blue for as long as anybody here can remember it.';
const PIECES = 24;
const SLOWLY = { chunks: PIECES, chunkDelayMs: 15 };
const REPLIES = [
  { ...read(), text: LOOK, ...SLOWLY },
  { ...say(ANSWER), ...SLOWLY },
];
const SETTINGS = {
  includePartialMessages: true,
  // A dead worker is missed soon; a busy one is given the time to say that it lives.
  heartbeatMs: { repeatable: 5_000, single: 5_000 },
} as const;

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
}, MINUTE);
afterAll(() => world.stop(), MINUTE);

interface Plan {
  /** The model call in which the worker dies, and after how many pieces of it: at least one has come. */
  readonly call: number;
  readonly pieces: number;
  readonly random: Random;
}

test(
  `${KILLS} workers die in the middle of a reply, and nobody notices but the readers`,
  async () => {
    saySeed(`${KILLS} workers killed in the middle of a reply`);
    const wrong: string[] = [];
    let worker = await world.spawn();
    for (let number = 0; number < KILLS; number += 1) {
      const random = seededRandom(SEED, number);
      const call = 1 + drawBelow(random, 2);
      const plan = { call, pieces: 1 + drawBelow(random, PIECES), random };
      const run = await begin(`kill-${number}`);
      const heir = { spawned: undefined as Promise<typeof worker> | undefined };
      const seen = await readAlong(run, plan, async () => {
        await worker.kill();
        heir.spawned = world.spawn();
      });
      if (heir.spawned !== undefined) worker = await heir.spawned;
      const found = await problemsOf(run, seen, plan);
      wrong.push(...found.map((problem) => `${run.runId} ${JSON.stringify(plan)}: ${problem}`));
    }
    expect(wrong).toEqual([]);
    await worker.stop();
  },
  MINUTE + KILLS * 30_000,
);

function begin(runId: string): Promise<RunHandle> {
  return world.start({
    runId,
    replies: REPLIES,
    settings: SETTINGS,
    wait: false,
    decisionTimeoutMs: 1_000,
  });
}

/** Reads to the end, leaving now and then; kills when it has read so far. */
async function readAlong(
  run: RunHandle,
  { call, pieces, random }: Plan,
  kill: () => Promise<void>,
): Promise<readonly StreamChunk[]> {
  const seen: StreamChunk[] = [];
  let killed = false;
  for (let over = false; !over;) {
    const after = seen.at(-1)?.cursor;
    let stay = 1 + drawBelow(random, 3 * PIECES);
    over = true;
    for await (const chunk of run.stream(after === undefined ? {} : { after })) {
      seen.push(chunk);
      const said = seen.filter((one) => one.kind === 'delta' && one.call === call).length;
      if (!killed && chunk.call === call && said >= pieces) {
        killed = true;
        await kill();
      }
      if ((stay -= 1) === 0) {
        over = false;
        break;
      }
    }
  }
  return seen;
}

async function problemsOf(
  run: RunHandle,
  seen: readonly StreamChunk[],
  plan: Plan,
): Promise<readonly string[]> {
  const { result, events } = await world.ended(run);
  const responses = ofType(events, 'model_response');
  const told = new Map(
    responses.map(({ messageId, text }) => [messageId, (text as { text: string }).text]),
  );
  const places = seen.map(({ cursor }) => cursor.split('.').map(Number) as [number, number]);
  const inOrder = places.every(([fence, index], at) => {
    const [before = 0, place = -1] = places[at - 1] ?? [];
    return fence > before || (fence === before && index > place);
  });
  const kinds = (kind: string) => seen.filter((one) => one.kind === kind && one.call === plan.call);
  // Whoever dies behind the last piece has finished: then there is no second attempt, and no second payment.
  const attempts = kinds('attempt_reset').length + 1;
  const requests = world.requests(run.runId);
  const asked = (call: number) =>
    requests.filter(({ assistantMessages }) => assistantMessages === call - 1).length;
  const again = await tokensOf(run);
  return [
    ...(result.completed ? [] : [`it ended with ${result.stopReason}`]),
    ...(responses.length === 2 ? [] : [`${responses.length} replies`]),
    ...(same([...told.values()], [LOOK, ANSWER]) ? [] : ['other messages']),
    ...(same([...messagesIn(seen)], [...told])
      ? []
      : [`read ${JSON.stringify([...messagesIn(seen)])}`]),
    ...(same([...messagesIn(again)], [...told]) ? [] : ['read again, something else']),
    ...(inOrder ? [] : ['a chunk twice, or out of order']),
    ...(seen.some(({ kind }) => kind === 'gap') ? ['a gap'] : []),
    ...(attempts <= 2 ? [] : [`${attempts} attempts`]),
    ...(kinds('attempt_started').length === attempts ? [] : ['an attempt that nobody saw begin']),
    ...(asked(plan.call) === attempts ? [] : [`asked ${asked(plan.call)} times`]),
    ...(asked(3 - plan.call) === 1 ? [] : ['a finished reply was asked for again']),
    ...(kinds('attempt_reset').every(({ attempt }) => attempt === 1)
      ? []
      : ['the wrong one reset']),
  ];
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

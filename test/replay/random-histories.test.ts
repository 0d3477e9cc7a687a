/** The histories of random runs replay exactly too. `npm run explore-replays` plays many more. */
import type { Engine } from '../../evaluation/engine.js';
import { createTemporalEngine } from '../../evaluation/temporal/index.js';
import { replayRandom } from '../../lab/exploration/replay-random.js';
import { saySeed, SEED } from '../seed.js';

const RUNS = 8;

let engine: Engine;
beforeAll(async () => {
  engine = await createTemporalEngine({ environment: process.env });
});
afterAll(() => engine?.stop(), 60_000);

test('of random agents, scripts, outcomes and messages', async () => {
  const seed = SEED;
  saySeed(`${RUNS} random runs on a server`);
  const { replayed, troubles } = await replayRandom({ engine, runs: RUNS, seed });
  const again = `again: npm run explore-replays -- --seed ${seed} --runs ${RUNS}`;
  expect({ again, troubles }).toEqual({ again, troubles: [] });
  expect(replayed).toBeGreaterThanOrEqual(RUNS);
}, 300_000);

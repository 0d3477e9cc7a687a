/**
 * Random trees of sub-agents: money, limits and starts hold at every step, whatever fails, is lost, dies or is cancelled.
 * HOLDFAST_WHOLE=1: 500 trees; HOLDFAST_SEED: of those that are drawn.
 */
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { playTree } from './support/random-tree.js';
import type { PlayedTree } from './support/tree-watch.js';

const TREES = WHOLE ? 500 : 50;

let store: MemoryStore;
beforeAll(async () => {
  store = await openMemoryStore();
});
afterAll(() => store.close());

test(`No tree of ${TREES} passes its budget or limits, or starts a sub-agent twice; none but those below a lost one goes on after its root.`, async () => {
  saySeed(`${TREES} random trees of sub-agents`);
  const played: PlayedTree[] = [];
  const broken: string[] = [];
  for (let index = 0; index < TREES; index += 1) {
    const seed = (WHOLE ? 0 : SEED * 1_000) + index;
    const tree = await playTree(store, seed);
    broken.push(...tree.broken.map((words) => `tree ${seed}: ${words}`));
    played.push(tree);
    await store.empty();
  }
  expect(broken).toEqual([]);
  // The draw reaches what the property is about.
  expect(Math.max(...played.map(({ children }) => children))).toBeGreaterThan(2);
  expect(Math.max(...played.map(({ depth }) => depth))).toBeGreaterThan(1);
  if (!WHOLE) return;
  const given = played.flatMap((tree) => tree.given);
  expect(given.filter((microUsd) => microUsd > 0).length).toBeGreaterThan(10);
  expect(given.filter((microUsd) => microUsd === 0).length).toBeGreaterThan(10);
});

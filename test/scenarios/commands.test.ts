/**
 * Runs of sealed rules command what they always did: each case, under the newest sealed number and under an older one
 * that is drawn, starts the same effects with the same payloads. The kept histories prove the same of runs on a server.
 *
 * HOLDFAST_WHOLE=1 plays every case under every number; HOLDFAST_SEED: of the draw.
 */
import type { Fixture } from '../../evaluation/fixture.js';
import { allCases, firstDifference, keptCommands, playerOf } from '../../lab/seal/case-commands.js';
import { rulesFolders } from '../../lab/seal/kept-histories.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

const HINT = 'npm run seal -- commands keeps those of new cases (CONTRIBUTING, "A case")';
const numbers = rulesFolders();
const newest = Math.max(...numbers);
let cases: readonly Fixture[];

beforeAll(async () => void (cases = await allCases()));

test('each case has its commands under every sealed rules number', () => {
  const missing = numbers.flatMap((rules) => {
    const kept = keptCommands(rules);
    return cases.flatMap(({ caseId }) => (kept.has(caseId) ? [] : [`${caseId}, rules ${rules}`]));
  });
  expect([HINT, ...missing]).toEqual([HINT]);
});

test('each case commands the same as when they were kept', async () => {
  saySeed('the older rules that each case is played under');
  const different: string[] = [];
  for (const rules of numbers) {
    const kept = keptCommands(rules);
    const player = playerOf(rules);
    const isPlayed = (index: number): boolean =>
      WHOLE || rules === newest || rules === numbers[(index + SEED) % (numbers.length - 1)];
    for (const fixture of cases.filter((_, index) => isPlayed(index))) {
      const found = firstDifference(kept.get(fixture.caseId) ?? [], await player.play(fixture));
      if (found !== undefined) different.push(`${fixture.caseId}, rules ${rules}: ${found}`);
    }
    await player.stop();
  }
  expect(different).toEqual([]);
}, 900_000);

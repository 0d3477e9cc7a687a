/**
 * Runs of sealed rules command what they always did: each case that the seed draws, under the newest sealed number or under
 * an older one, starts the same effects with the same payloads. The kept histories prove the same on a server.
 *
 * HOLDFAST_WHOLE=1 plays every case under every number; HOLDFAST_SEED: of the draw.
 */
import type { Fixture } from '../../evaluation/fixture.js';
import {
  allCases,
  firstDifference,
  isPlayedUnder,
  keptCommands,
  playerOf,
} from '../../lab/seal/case-commands.js';
import { rulesFolders } from '../../lab/seal/kept-histories.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

const HINT = 'npm run seal -- commands keeps those of new cases (CONTRIBUTING, "A case")';
const numbers = rulesFolders();
const newest = Math.max(...numbers);
/** One of so many cases, and of those of goals, which play as long as many runs. */
const DRAWN_OF = 2;
const GOALS_DRAWN_OF = 6;
let cases: readonly Fixture[];

/** The newest for every second case that is drawn. */
function numberOf(index: number): number | undefined {
  if ((index + SEED) % DRAWN_OF !== 0) return undefined;
  const draw = (index + SEED) / DRAWN_OF;
  return draw % 2 === 0 ? newest : numbers[Math.floor(draw / 2) % (numbers.length - 1)]!;
}

beforeAll(async () => void (cases = await allCases()));

test('each case has its commands under every sealed rules number', () => {
  const missing = numbers.flatMap((rules) => {
    const kept = keptCommands(rules);
    return cases
      .filter((fixture) => isPlayedUnder(rules, fixture) && !kept.has(fixture.caseId))
      .map(({ caseId }) => `${caseId}, rules ${rules}`);
  });
  expect([HINT, ...missing]).toEqual([HINT]);
});

test('each case commands the same as when they were kept', async () => {
  saySeed('the rules that each case is played under');
  const different: string[] = [];
  for (const rules of numbers) {
    const kept = keptCommands(rules);
    const player = playerOf(rules);
    const isDrawn = (index: number): boolean => WHOLE || rules === numberOf(index);
    // Each number that is played has its own draw of goals.
    const isDrawnGoal = (index: number): boolean => WHOLE || (index + SEED) % GOALS_DRAWN_OF === 0;
    const played = cases.filter(
      (fixture, index) =>
        isPlayedUnder(rules, fixture) &&
        (fixture.goal === undefined ? isDrawn(index) : isDrawnGoal(index)),
    );
    for (const fixture of played) {
      const found = firstDifference(kept.get(fixture.caseId) ?? [], await player.play(fixture));
      if (found !== undefined) different.push(`${fixture.caseId}, rules ${rules}: ${found}`);
    }
    await player.stop();
  }
  expect(different).toEqual([]);
}, 900_000);

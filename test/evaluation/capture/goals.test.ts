/** Recorded goals and cycles as cases: each passes as it was recorded, or is refused by name. */
import { capture } from '../../../evaluation/capture/capture.js';
import { differencesOf } from '../../../evaluation/capture/check.js';
import type { FixtureDocument } from '../../../evaluation/format/document.js';
import { foldOf } from '../../../recording/fold.js';
import { keptGoals, type Kept } from './kept-goals.js';

const MINUTE = 60_000;
const BEGUN = '12/goal-rules-proven';

interface Captured {
  readonly name: string;
  readonly document: FixtureDocument;
}

function captured(kept: readonly Kept[]): {
  readonly cases: readonly Captured[];
  readonly refusals: readonly string[];
} {
  const refusals: string[] = [];
  const cases = kept.flatMap(({ name, bundle }): Captured[] => {
    try {
      return [{ name, document: capture(bundle) }];
    } catch (error) {
      refusals.push(`${name}: ${(error as Error).message}`);
      return [];
    }
  });
  return { cases, refusals };
}

async function failing(cases: readonly Captured[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { name, document } of cases) {
    const [first] = await differencesOf(document, document.case_id);
    if (first !== undefined) failed.push(`${name}: ${JSON.stringify(first).slice(0, 600)}`);
  }
  return failed;
}

let goals: ReturnType<typeof captured>;
let cycles: ReturnType<typeof captured>;

beforeAll(() => {
  const kept = keptGoals();
  goals = captured(kept.goals);
  cycles = captured(kept.cycles);
});

test(
  'a kept goal with all its cycles is a case that passes in the simulation',
  async () => {
    expect(await failing(goals.cases)).toEqual([]);
    expect(goals.cases.length).toBeGreaterThan(0);
  },
  MINUTE,
);

test(
  'the beginning of a kept goal is a case behind a cycle, and a step within a pass is none',
  async () => {
    const { bundle } = keptGoals().goals.find(({ name }) => name === BEGUN)!;
    const wrong: string[] = [];
    const begun = foldOf(bundle).steps.flatMap(({ step }): readonly Captured[] => {
      try {
        return [{ name: `${BEGUN} until ${step}`, document: capture(bundle, { until: step }) }];
      } catch (error) {
        wrong.push((error as Error).message);
        return [];
      }
    });
    expect(wrong.filter((text) => !text.includes('had just ended'))).toEqual([]);
    expect(begun.length).toBeGreaterThan(0);
    expect(await failing(begun)).toEqual([]);
  },
  MINUTE,
);

test('a goal without one of its cycles is refused, and told how to export the whole of it', () => {
  const named = /lacks its cycle c\d+|was never opened|handed it to the goal|had the model/;
  expect(goals.refusals.filter((text) => !named.test(text))).toEqual([]);
  expect(goals.refusals.filter((text) => text.includes('lacks its cycle'))).not.toEqual([]);
});

test(
  'a kept cycle is a case of its own that passes in the simulation',
  async () => {
    expect(await failing(cycles.cases)).toEqual([]);
    expect(cycles.refusals.filter((text) => !text.includes('was never asked'))).toEqual([]);
    expect(cycles.cases.length).toBeGreaterThan(5);
  },
  MINUTE,
);

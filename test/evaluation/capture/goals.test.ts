/** Recorded goals and cycles as cases: each passes as it was recorded, or is refused by name. */
import { capture } from '../../../evaluation/capture/capture.js';
import { differencesOf } from '../../../evaluation/capture/check.js';
import type { FixtureDocument } from '../../../evaluation/format/document.js';
import { keptGoals, type Kept } from './kept-goals.js';

const MINUTE = 60_000;

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

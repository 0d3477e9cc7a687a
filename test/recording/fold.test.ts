/**
 * The fold of recorded runs, over the kept histories: what the core commands is compared with what was recorded.
 *
 * HOLDFAST_WHOLE=1 folds all of them; HOLDFAST_SEED: of the draw.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import { keptHistories, readKept, rulesFolders } from '../../lab/seal/kept-histories.js';
import { foldOf, type RunFold } from '../../recording/fold.js';
import type { HistoryEvent } from '../../recording/history.js';
import type { Bundle } from '../../replay/bundle.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

/** Of each rules number. */
const DRAWN = 12;

test('what the core makes of recorded inputs commands what was recorded', () => {
  const all = keptHistories();
  const chosen = rulesFolders().flatMap((number) => {
    const same = all.filter(({ rules }) => rules === number);
    return WHOLE ? same : drawn(same, DRAWN, SEED);
  });
  saySeed(`${chosen.length} of ${all.length} kept histories are folded`);
  const different = chosen.flatMap((kept) => {
    const { divergences } = foldOf(readKept(kept));
    return divergences.length === 0 ? [] : [{ file: kept.file, divergences }];
  });
  expect(different).toEqual([]);
});

test('messages from before the first moment are heard as the workflow heard them', () => {
  for (const file of [
    'rules-6/random-6001-143.json.gz',
    'rules-12/goal-changes-heard-before.json.gz',
  ]) {
    expect(foldOf(keptNamed(file)).divergences).toEqual([]);
  }
});

test('a workflow that refused its start has no steps and differs in nothing', () => {
  const fold = foldOf(keptNamed('rules-10/run-..json.gz'));
  expect(fold.steps).toEqual([]);
  expect(fold.divergences).toEqual([]);
});

test('steps tell what was received, which rules fired and what began', () => {
  const { steps } = foldedRun('rules-14/C1-end-turn-in-s002.json.gz');
  expect(steps[0]).toMatchObject({ step: 1, inputs: [], rules: ['open'] });
  expect(steps[1]).toMatchObject({
    inputs: [{ type: 'run_opened', id: 'open_run-1' }],
    rules: ['arrive', 'ask the model'],
    effects: [{ kind: 'call_model', call: 1 }],
  });
  expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => index + 1));
  const [, last] = steps.at(-1)!.events;
  expect(steps.flatMap(({ events: [from, to] }) => to - from).reduce((sum, one) => sum + one)).toBe(
    last,
  );
});

test('a step is the same in whatever order steps are asked for', () => {
  const fold = foldedRun('rules-1/D7-default-cap-on-tool-calls.json.gz');
  const forwards = fold.steps.map(({ step }) => json(fold.at(step)));
  const backwards = fold.steps
    .toReversed()
    .map(({ step }) => json(fold.at(step)))
    .toReversed();
  expect(fold.steps.length).toBeGreaterThan(30);
  expect(backwards).toEqual(forwards);
  for (const { step } of fold.steps.slice(1)) {
    expect(json(fold.at(step).before)).toBe(json(fold.at(step - 1).after));
  }
});

test('a step that there is not is refused with the number of steps', () => {
  const fold = foldedRun('rules-14/C1-end-turn-in-s002.json.gz');
  for (const step of [0, -1, 1.5, NaN, fold.steps.length + 1]) {
    expect(() => fold.at(step)).toThrow(
      expect.objectContaining({
        code: 'StepNotFound',
        details: { step, steps: fold.steps.length },
      }),
    );
  }
});

test('where the record has another effect, the steps end and the fold says where', () => {
  const bundle = keptNamed('rules-14/C1-end-turn-in-s002.json.gz');
  const whole = foldOf(bundle);
  const fold = foldOf(withOtherEffect(bundle));
  expect(fold.steps).toHaveLength(1);
  expect(fold.divergences).toEqual([
    {
      step: 2,
      segment: 0,
      eventId: whole.steps[1]!.eventId,
      reason:
        'The record starts call_model call_model-9; today’s code starts call_model call_model-2.',
    },
  ]);
});

function keptNamed(file: string): Bundle {
  return readKept(keptHistories().find((kept) => kept.file === file)!);
}

function foldedRun(file: string): RunFold {
  const fold = foldOf(keptNamed(file));
  if (fold.kind !== 'run') throw new Error('the history is of a goal');
  return fold;
}

function withOtherEffect({ run, segments }: Bundle): Pick<Bundle, 'run' | 'segments'> {
  const text = JSON.stringify(segments).replaceAll('"call_model-2"', '"call_model-9"');
  return {
    run,
    segments: JSON.parse(text) as {
      segment: 0;
      execution: '';
      source: 'store';
      events: HistoryEvent[];
    }[],
  };
}

function json(value: unknown): string {
  return canonicalJson(value as Json);
}

/**
 * Cases in workers that keep no run in memory, so that every step begins with a replay of the whole history:
 * the same results as in the simulation. One case of each section, and some that a seed picks.
 *
 * HOLDFAST_WHOLE=1: all cases; HOLDFAST_SEED: of the pick. All of them are also
 * `holdfast eval test/scenarios --engine both --no-workflow-cache`.
 */
import { basename, dirname } from 'node:path';
import { collectFixtures } from '../../evaluation/collect.js';
import { openEngines } from '../../evaluation/engines.js';
import { evaluate } from '../../evaluation/evaluate.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { notYet } from '../../evaluation/scripted/not-yet.js';
import { skipOf } from '../../evaluation/temporal/skip.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

const MINUTE = 60_000;
const PICKED = 3;
const LIMIT = WHOLE ? 40 * MINUTE : 5 * MINUTE;

function sectionOf({ file }: Fixture): string {
  return basename(dirname(file));
}

/** The first of each section, and as many of the others as are wanted. */
function chosenOf(all: readonly Fixture[]): readonly Fixture[] {
  const playable = all.filter((one) => notYet(one) === undefined && skipOf(one) === undefined);
  const isFirst = (one: Fixture): boolean =>
    playable.find((other) => sectionOf(other) === sectionOf(one)) === one;
  const others = playable.filter((one) => !isFirst(one));
  const count = WHOLE ? others.length : PICKED;
  return [...playable.filter(isFirst), ...drawn(others, count, SEED)];
}

test(
  'a worker that replays at every step comes to the same results',
  async () => {
    const chosen = chosenOf(await collectFixtures({ paths: [__dirname], folder: __dirname }));
    saySeed(`${chosen.length} cases replayed at every step`);
    const engines = await openEngines('both', { environment: process.env, maxCachedWorkflows: 0 });
    const wrong: string[] = [];
    let played = 0;
    try {
      for await (const one of evaluate(chosen, { engines, seed: SEED })) {
        if (one.outcome === 'passed') played += 1;
        else wrong.push(`${one.fixture.caseId}: ${JSON.stringify(one.differences[0] ?? one.why)}`);
      }
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()));
    }
    expect(wrong).toEqual([]);
    expect(played).toBe(2 * chosen.length);
  },
  LIMIT,
);

/**
 * Cases in workers that keep no run in memory, so that every step begins with a replay of the whole history:
 * the same results as in the simulation. A seed picks the sections, and a case of each.
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
const SECTIONS = 5;
const LIMIT = WHOLE ? 40 * MINUTE : 5 * MINUTE;

function sectionOf({ file }: Fixture): string {
  return basename(dirname(file));
}

function chosenOf(all: readonly Fixture[]): readonly Fixture[] {
  const playable = all.filter((one) => notYet(one) === undefined && skipOf(one) === undefined);
  if (WHOLE) return playable;
  const names = [...new Set(playable.map(sectionOf))];
  const sections = names.map((name) => playable.filter((one) => sectionOf(one) === name));
  return drawn(sections, SECTIONS, SEED).flatMap((cases) => drawn(cases, 1, SEED));
}

test(
  'a worker that replays at every step comes to the same results',
  async () => {
    const chosen = chosenOf(await collectFixtures({ paths: [__dirname], folder: __dirname }));
    saySeed(`${chosen.length} cases replayed at every step`);
    const engines = await openEngines('both', { environment: process.env, maxCachedWorkflows: 0 });
    const wrong: string[] = [];
    let played = 0;
    let asleep = 0;
    try {
      for await (const one of evaluate(chosen, { engines, seed: SEED })) {
        if (one.outcome === 'passed') played += 1;
        // Whether a goal sleeps is known when it does.
        else if (one.why === 'needs virtual time' && one.fixture.goal !== undefined) asleep += 1;
        else wrong.push(`${one.fixture.caseId}: ${JSON.stringify(one.differences[0] ?? one.why)}`);
      }
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()));
    }
    expect(wrong).toEqual([]);
    expect(played + asleep).toBe(2 * chosen.length);
  },
  LIMIT,
);

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRANSITIONS } from '../../pure/transitions.js';
import { semantics } from '../../docs/reference/semantics.js';
import { collectFixtures } from '../../evaluation/collect.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';

const ROOT = join(__dirname, '..', '..');

/** The table's layout is the formatter's business. */
const cells = (text: string): string => text.replace(/-{3,}/g, '---').replace(/ +/g, ' ');

test('docs/reference/semantics.md says what the constants say', () => {
  const written = readFileSync(join(ROOT, 'docs', 'reference', 'semantics.md'), 'utf8');
  const fresh = execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/prettier/bin/prettier.cjs'), '--parser', 'markdown'],
    { cwd: ROOT, input: semantics(), encoding: 'utf8' },
  );
  expect(cells(written)).toBe(cells(fresh));
});

test('transitions change the turn count exactly as the table says', async () => {
  const engine = createSimulationEngine();
  const fixtures = await collectFixtures({ paths: ['test/scenarios'], folder: ROOT });
  const seen = new Map<string, Set<number>>();
  for (const fixture of fixtures) {
    const run = await engine.run(fixture, { seed: 1 });
    if (run.kind !== 'observed') continue;
    let before = 0;
    for (const { type, stamp, ...event } of run.observed.events) {
      if (type === 'transition') {
        const { reason } = event as { reason: string };
        seen.set(reason, (seen.get(reason) ?? new Set()).add(stamp.turn - before));
      }
      before = stamp.turn;
    }
  }
  await engine.stop();
  const expected = Object.entries(TRANSITIONS).map(
    ([reason, { turnCount }]) => [reason, [turnCount === '+1' ? 1 : 0]] as const,
  );
  expect(Object.fromEntries([...seen].map(([reason, steps]) => [reason, [...steps]]))).toEqual(
    Object.fromEntries(expected),
  );
}, 120_000);

/**
 * The histories of every rules number stay as they were recorded, and replay exactly.
 *
 * HOLDFAST_WHOLE=1 replays all of them, as `npm run seal -- prove` does, not some of each number that are drawn;
 * HOLDFAST_SEED: of the draw.
 */
import { reportLines } from '../../replay/report-text.js';
import { replayRunsOf } from '../../replay/strict-replay.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { alteredSinceBase } from '../../lab/seal/base.js';
import { requireBase } from '../../lab/seal/base-commit.js';
import {
  keptHistories,
  manifestFaults,
  readKept,
  rulesFolders,
  rulesOfBundle,
} from '../../lab/seal/kept-histories.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

/** Of each rules number. */
const DRAWN = 4;

test('there are some of every rules number, each where its rules say', () => {
  expect(rulesFolders()).toEqual(Array.from({ length: RULES_VERSION }, (_, index) => index + 1));
  for (const kept of keptHistories()) {
    expect([kept.file, rulesOfBundle(readKept(kept))]).toEqual([kept.file, kept.rules]);
  }
});

test('files and their MANIFESTs agree', () => {
  expect(manifestFaults()).toEqual([]);
});

test('what histories/BASE had kept is kept without a change; a clone that lacks that commit fails', () => {
  expect(requireBase()).toMatch(/^[0-9a-f]{40}$/);
  expect(alteredSinceBase()).toEqual([]);
});

test('they replay exactly', async () => {
  const all = keptHistories();
  const chosen = rulesFolders().flatMap((number) => {
    const same = all.filter(({ rules }) => rules === number);
    return WHOLE ? same : drawn(same, DRAWN, SEED);
  });
  saySeed(`${chosen.length} of ${all.length} kept histories`);
  const different: string[] = [];
  for await (const report of replayRunsOf(chosen.map(readKept))) {
    if (!report.equal) different.push(reportLines(report).join('\n'));
  }
  expect(different).toEqual([]);
}, 240_000);

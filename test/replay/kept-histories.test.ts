/** The histories of every rules number stay as they were recorded, and replay exactly. */
import { reportLines } from '../../replay/report-text.js';
import { rulesOf } from '../../replay/versions.js';
import { replayRunsOf } from '../../replay/strict-replay.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { alteredSinceBase } from '../../lab/seal/base.js';
import { requireBase } from '../../lab/seal/base-commit.js';
import {
  keptHistories,
  manifestFaults,
  readKept,
  rulesFolders,
} from '../../lab/seal/kept-histories.js';

test('there are some of every rules number, each where its rules say', () => {
  expect(rulesFolders()).toEqual(Array.from({ length: RULES_VERSION }, (_, index) => index + 1));
  for (const kept of keptHistories()) {
    const { segments } = readKept(kept);
    expect([kept.file, rulesOf(segments.at(-1)!.events)]).toEqual([kept.file, kept.rules]);
  }
});

test('files and their MANIFESTs agree', () => {
  expect(manifestFaults()).toEqual([]);
});

test('what histories/BASE had kept is kept without a change; a clone that lacks that commit fails', () => {
  expect(requireBase()).toMatch(/^[0-9a-f]{40}$/);
  expect(alteredSinceBase()).toEqual([]);
});

test('all replay exactly', async () => {
  const different: string[] = [];
  for await (const report of replayRunsOf(keptHistories().map(readKept))) {
    if (!report.equal) different.push(reportLines(report).join('\n'));
  }
  expect(different).toEqual([]);
}, 240_000);

/**
 * `npm run record-histories`: plays the cases on a real server and keeps the bundle of each run for this
 * release. It writes new files and never rewrites one: a history that no longer replays is a change of
 * meaning, which needs a number in core/step/changes.ts, not a new recording.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeVersion } from '../../activities/run/code-version.js';
import type { Engine } from '../../evaluation/engine.js';
import { limited } from '../../evaluation/pool.js';
import { readFixture } from '../../evaluation/read-fixture.js';
import { createTemporalEngine, type EndedRun } from '../../evaluation/temporal/index.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { replayRun } from '../../replay/strict-replay.js';
import { CONTINUED, HISTORIES, pathOf, RECORDINGS } from './recordings.js';

const BYTES_MAX = 100_000;
/** A turn or two. */
const EVENTS_PER_SEGMENT = 32;
const CASE_LIMIT_MS = 120_000;
const TENANT = 'default';
const folder = join(HISTORIES, codeVersion());

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const missing = (all: { readonly [name: string]: string }): readonly [string, string][] =>
    Object.entries(all).filter(([name]) => !existsSync(fileOf(name)));
  const kept = Object.keys({ ...RECORDINGS, ...CONTINUED }).filter((name) =>
    existsSync(fileOf(name)),
  );
  if (kept.length > 0) console.log(`kept as they are: ${kept.join(', ')}`);
  await record(missing(RECORDINGS));
  const short = `limit.historyCount.suggestContinueAsNew=${EVENTS_PER_SEGMENT}`;
  await record(missing(CONTINUED), [short]);
}

function fileOf(name: string): string {
  return join(folder, `${name}.json`);
}

async function record(
  wanted: readonly [string, string][],
  dynamicConfig: readonly string[] = [],
): Promise<void> {
  if (wanted.length === 0) return;
  const names = new Map<string, string>();
  const engine = await createTemporalEngine({
    environment: process.env,
    dynamicConfig,
    onEnded: async (run) => keep(names.get(run.caseId)!, run),
  });
  const play = limited(engine.concurrency, (one: readonly [string, string]) =>
    played(engine, one, names),
  );
  try {
    await Promise.all(wanted.map(play));
  } finally {
    await engine.stop();
  }
}

async function played(
  engine: Engine,
  [name, fixture]: readonly [string, string],
  names: Map<string, string>,
): Promise<void> {
  const parsed = await readFixture(fixture, pathOf(fixture));
  names.set(parsed.caseId, name);
  const run = await engine.run(parsed, { seed: 1, signal: AbortSignal.timeout(CASE_LIMIT_MS) });
  if (run.kind === 'observed' && run.observed.result !== undefined) return;
  fail(`${name}: not recorded: ${JSON.stringify(run).slice(0, 300)}`);
}

async function keep(name: string, { address, store, runId }: EndedRun): Promise<void> {
  const run = { tenant: TENANT, runId };
  const bundle = await exportRun({ address, namespace: 'default', store }, run);
  const report = await replayRun(bundle);
  const text = bundleText(bundle);
  if (!report.equal) return fail(`${name}: does not replay: ${JSON.stringify(report.differences)}`);
  if (text.length > BYTES_MAX) return fail(`${name}: ${text.length} bytes are too many`);
  writeFileSync(fileOf(name), text, { flag: 'wx' });
  console.log(`${name}: ${report.steps} steps, ${text.length} bytes`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

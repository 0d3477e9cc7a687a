/**
 * A failure becomes a test, by the commands alone: a seeded bug is met by a run on a real server, `holdfast failures` finds
 * it, `inspect` shows the moment, `capture --expect` gives a case that fails, and passes once the line is mended. Cases of
 * before still pass. HOLDFAST_WHOLE=1: every bug, not some that are drawn; HOLDFAST_SEED: of the draw.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCli } from '../../../cli/program.js';
import type { Failures } from '../../../client/read/failures.js';
import type { Report } from '../../../evaluation/report.js';
import type { ScriptedAnswer } from '../../../testing/index.js';
import { loadConfig } from '../../../worker/load-config.js';
import { compiledPath } from '../../compiled.js';
import { drawn } from '../../draw.js';
import { startWorld, type World } from '../../integration/support/world.js';
import { saySeed, SEED, WHOLE } from '../../seed.js';
import { GOOD_REPLIES, SEEDED_BUGS, shopConfig, type SeededBug } from './seeded-bugs.js';

const MAIN = compiledPath(join(__dirname, '..', '..', '..', 'cli', 'main.ts'));
const PACKAGE = dirname(dirname(MAIN));
const MINUTE = 60_000;
const DRAWN = 5;
const GOOD = 'good';

const BUGS = WHOLE ? SEEDED_BUGS : drawn(SEEDED_BUGS, DRAWN, SEED);
const folder = mkdtempSync(join(tmpdir(), 'seeded-bugs-'));

let world: World;
beforeAll(async () => {
  saySeed(`${BUGS.length} of ${SEEDED_BUGS.length} seeded bugs: ${BUGS.map(nameOf).join(', ')}`);
  for (const { name, wrong } of BUGS) write(configOf(name), shopConfig(PACKAGE, name, wrong));
  write(configOf(GOOD), shopConfig(PACKAGE, GOOD, ''));
  const files = [GOOD, ...BUGS.map(nameOf)].map((name) => `./${name}.cjs`);
  write(join('configs', 'all.cjs'), allConfigs(files));
  world = await startWorld({ worker: false });
  await world.serve({
    config: await loadConfig({ folder, file: join(folder, 'configs', 'all.cjs') }),
  });
}, 2 * MINUTE);
afterAll(async () => {
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

function allConfigs(files: readonly string[]): string {
  return `
const { defineConfig } = require(${JSON.stringify(join(PACKAGE, 'index.js'))});
const agents = ${JSON.stringify(files)}.flatMap((file) => require(file).agents);
module.exports = { config: defineConfig({ agents }) };
`;
}

function nameOf({ name }: SeededBug): string {
  return name;
}

function configOf(name: string): string {
  return join('configs', `${name}.cjs`);
}

function caseOf(name: string): string {
  return join('cases', `${name}.json`);
}

function write(name: string, content: string): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** In this process, on the server and the store in which the runs are. */
async function holdfast(...words: readonly string[]) {
  let out = '';
  const hear = (text: string): void => void (out += text);
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--store', world.storePlace];
  const code = await runCli([...words, ...place], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: hear, err: hear },
  });
  return { code, out };
}

/** In a process of its own: this one has loaded the configurations already. */
function casesPlayed(): Promise<ReadonlyMap<string, Report['cases'][number]>> {
  const words = ['eval', 'cases', '--json', 'report.json'];
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...words], { cwd: folder }, () => {
      const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report;
      resolve(new Map(report.cases.map((one) => [one.case_id, one])));
    });
  });
}

async function met(name: string, replies: readonly object[]): Promise<void> {
  const script = replies as readonly ScriptedAnswer[];
  await world.ended(await world.start({ runId: name, agent: name, replies: script }));
}

/** From the group of `failures` to the case that fails. */
async function kept({ name, expect: expected, shows, isOfTool }: SeededBug): Promise<void> {
  const found = await holdfast('failures', '--all', '--since', '1d', '--agent', name, '--json');
  const { groups } = JSON.parse(found.out) as Failures;
  expect(groups).toMatchObject([{ count: 1, newest: { runId: name } }]);
  const run = groups[0]!.newest.runId;
  const inspected = await holdfast('inspect', run, '--at', 'last');
  expect([name, inspected]).toEqual([name, { code: 0, out: expect.stringContaining(shows) }]);
  const words = ['--config', configOf(name), '--expect', expected];
  const captured = await holdfast('capture', run, '-o', caseOf(name), ...words);
  expect([name, captured.out]).toEqual([name, expect.stringContaining('fails in the simulation')]);
  if (isOfTool !== true) return;
  const document = JSON.parse(readFileSync(join(folder, caseOf(name)), 'utf8')) as object;
  write(caseOf(name), JSON.stringify({ ...document, tools: 'live' }));
}

test(
  'each failure is found, inspected, captured, fails, is mended and passes',
  async () => {
    await met(GOOD, GOOD_REPLIES);
    for (const { name, model } of BUGS) await met(name, model);
    mkdirSync(join(folder, 'cases'));
    const good = ['--config', configOf(GOOD), '--expect', 'stop_reason=completed'];
    expect(await holdfast('capture', GOOD, '-o', caseOf(GOOD), ...good)).toMatchObject({ code: 0 });
    for (const bug of BUGS) await kept(bug);
    const failing = await casesPlayed();
    // A failed case says how the run ended, and by which rule.
    for (const { name } of BUGS) {
      expect(failing.get(name)).toMatchObject({
        outcome: 'failed',
        why_ended: { rule: expect.any(String) },
      });
    }
    for (const [mended, { name, right }] of BUGS.entries()) {
      write(configOf(name), shopConfig(PACKAGE, name, right));
      const played = await casesPlayed();
      const passed = BUGS.filter((bug) => played.get(bug.name)?.outcome === 'passed').map(nameOf);
      expect(passed).toEqual(BUGS.slice(0, mended + 1).map(nameOf));
      expect(played.get(GOOD)).toMatchObject({ outcome: 'passed' });
    }
  },
  (WHOLE ? 6 : 3) * MINUTE,
);

/**
 * The usual failures of production, each on a real server: the run is captured, its case passes in the simulation as it was
 * recorded, and so does the case of the agent's configuration. HOLDFAST_SEED: which cases a server plays again; HOLDFAST_WHOLE=1: all.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { capture, type CaptureOptions } from '../../evaluation/capture/capture.js';
import { evaluate } from '../../evaluation/evaluate.js';
import type { FixtureDocument } from '../../evaluation/format/document.js';
import { openEngines } from '../../evaluation/engines.js';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { exportTree } from '../../replay/export-run.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { atWork, SHOP } from './support/failing-shop.js';
import { FAILURES } from './support/usual-failures.js';
import { startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 120_000;
const ON_A_SERVER = WHOLE ? Infinity : 4;
const NAMES = Object.keys(FAILURES);
const runIdOf = (name: string) => name.replace(/[^a-z]+/g, '-');

let world: World;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-failures-'));
const bundles = new Map<string, Bundle>();

async function play(name: string): Promise<string> {
  const { people, replies, below = {}, agent, task, budget, settings } = FAILURES[name]!;
  const runId = runIdOf(name);
  for (const [place, said] of Object.entries(below)) world.script(`${runId}:${place}`, said);
  const start = {
    replies,
    ...(agent !== undefined && { agent }),
    ...(budget !== undefined && { budget }),
    ...(settings !== undefined && { settings }),
  };
  const run = await world.start({ ...start, task: task ?? 'Serve.', runId });
  await people?.(run, world);
  const { result } = await world.ended(run);
  const { address, namespace } = world.place;
  const place = { address, namespace, store: world.store };
  bundles.set(name, await exportTree(place, { tenant: 'default', runId }));
  const { stopReason, detail } = result;
  return stopReason === 'completed' ? stopReason : [stopReason, detail].join(' ').trim();
}

beforeAll(async () => {
  world = await startWorld({ workerSettings: { config: SHOP } });
}, LIMIT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.stop();
});

test(
  'each of them ends as it does in production',
  async () => {
    const ends = await Promise.all(
      NAMES.map(async (name) => [name, await play(name).catch((error: Error) => error.message)]),
    );
    expect(ends).toEqual(NAMES.map((name) => [name, FAILURES[name]!.ends ?? 'completed']));
  },
  LIMIT_MS,
);

interface Captured {
  readonly name: string;
  readonly document: FixtureDocument;
}

function captured(options: CaptureOptions = {}): readonly Captured[] {
  const isOwn = options.own !== undefined;
  const refusals = new Map<string, string>();
  const chosen = [...bundles].filter(([name]) => !isOwn || FAILURES[name]!.isTree !== true);
  const cases = chosen.flatMap(([name, bundle]): readonly Captured[] => {
    try {
      return [{ name, document: capture(bundle, options) }];
    } catch (error) {
      refusals.set(name, (error as Error).message);
      return [];
    }
  });
  const named = NAMES.filter(
    (name) => FAILURES[name]!.refused?.test(refusals.get(name) ?? '') !== true,
  );
  expect([...refusals].filter(([name]) => named.includes(name))).toEqual([]);
  return cases;
}

async function failing(cases: readonly Captured[], engine: 'simulation' | 'both') {
  const engines = await openEngines(engine, { environment: process.env });
  const failed: string[] = [];
  try {
    const fixtures = cases.map(({ document }) => {
      const fixture = parseFixture(JSON.stringify(document), document.case_id);
      const { ownAgent } = fixture;
      return ownAgent === undefined
        ? fixture
        : { ...fixture, ownAgent: { ...ownAgent, config: SHOP } };
    });
    for await (const { fixture, outcome, differences } of evaluate(fixtures, {
      engines,
      seed: SEED,
    })) {
      if (outcome === 'failed')
        failed.push(`${fixture.caseId}: ${JSON.stringify(differences.slice(0, 3)).slice(0, 800)}`);
    }
  } finally {
    await Promise.all(engines.map((one) => one.stop()));
  }
  return failed;
}

test(
  'each is a case that passes as it was recorded',
  async () => {
    expect(await failing(captured(), 'simulation')).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a run whose tool is at work is a case as far as it went, also where its events are not stored yet',
  async () => {
    const [input, runId] = [{ how: 'hangs' }, 'at-work'];
    const run = await world.start({ runId, replies: [{ calls: [{ tool: 'look.typed', input }] }] });
    await until('its tool to work', () => (atWork.has(runId) ? true : undefined));
    const { address, namespace } = world.place;
    const place = { address, namespace, store: world.store };
    const bundle = await exportTree(place, { tenant: 'default', runId });
    const early = { ...bundle, events: bundle.events.slice(0, 1) };
    await run.cancel();
    const cases = [bundle, early].map((one) => ({ name: runId, document: capture(one) }));
    expect(await failing(cases, 'simulation')).toEqual([]);
    await world.ended(run);
  },
  LIMIT_MS,
);

test(
  'each is a case of the agent as the configuration has it',
  async () => {
    expect(await failing(captured({ own: { config: 'shop.ts' } }), 'simulation')).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'what each did is what its case does, to the last action',
  async () => {
    const different: string[] = [];
    for (const { name, document } of captured()) {
      if (FAILURES[name]!.inOtherRows) continue;
      writeFileSync(join(folder, 'run.json'), bundleText(bundles.get(name)!));
      writeFileSync(join(folder, 'case.json'), JSON.stringify(document));
      let out = '';
      const words = ['diff', 'run.json', 'case.json', '--actions'];
      const code = await runCli(words, {
        environment: { variables: {}, folder, colour: false, interactive: false },
        streams: { out: (text) => void (out += text), err: (text) => void (out += text) },
      });
      if (code !== 0) different.push(`${name}: ${out.slice(0, 1_500)}`);
    }
    expect(different).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a server plays them as the simulation does',
  async () => {
    const cases = captured();
    const chosen = drawn(cases, ON_A_SERVER, SEED);
    saySeed(`${chosen.length} of ${cases.length} captured failures are played on a server`);
    expect(await failing(chosen, 'both')).toEqual([]);
  },
  3 * LIMIT_MS,
);

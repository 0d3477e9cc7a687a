/**
 * Runs with sub-agents, handoffs and letters, and results that do not fit, recorded on a real server, exported with everything below them and captured: each
 * case passes in the simulation as it was recorded. HOLDFAST_SEED: which runs; HOLDFAST_WHOLE=1: all.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { capture } from '../../evaluation/capture/capture.js';
import { differencesOf } from '../../evaluation/capture/check.js';
import { recordingOf } from '../../evaluation/capture/recording.js';
import { compare } from '../../evaluation/compare.js';
import type { FixtureDocument } from '../../evaluation/format/document.js';
import { limited } from '../../evaluation/pool.js';
import { outcomeOf } from '../../evaluation/past/outcome.js';
import { playPast } from '../../evaluation/past/play.js';
import type { PastReport } from '../../evaluation/past/report.js';
import { parseFixture, readFixture } from '../../evaluation/read-fixture.js';
import { createTemporalEngine, type EndedRun } from '../../evaluation/temporal/index.js';
import { scriptOf } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { exportTree } from '../../replay/export-run.js';
import { drawn } from '../draw.js';
import { inEarnest } from '../evaluation/live-play.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

/** Of each test, ms; some have several. */
const LIMIT_MS = WHOLE ? 600_000 : 60_000;
const SCENARIOS = join(__dirname, '../scenarios');
const FOLDERS = ['agents', 'handoffs', 'letters'];
const ONE_SUB_AGENT = 'S178';
const WITH_AN_EFFECT = 'agents-approval';
const TWO_GENERATIONS = 'agents-nested-money';
/** The root goes on under another agent, which has a sub-agent. */
const TAKEN_OVER = 'agents-of-who-took-over';
/** In each run: results that do not fit their schema, and runs with one sub-agent, which reads or has an effect. */
const ALWAYS = [
  'connectors/MC-unfit-read.json',
  `agents/${ONE_SUB_AGENT}.json`,
  `agents/${WITH_AN_EFFECT}.json`,
  `agents/${TWO_GENERATIONS}.json`,
  `agents/${TAKEN_OVER}.json`,
];
const PLAYED = WHOLE ? Infinity : 12;
const ON_A_SERVER = 3;
const NAMESPACE = 'default';
/** What no case can say, by name. */
const NAMED =
  /summarised|time ended|was over|hooks of the point|gate refused|looked at the run|was never opened|are both named/;

const refusals: string[] = [];
let cases: readonly FixtureDocument[];
const bundles = new Map<string, Bundle>();

async function recorded(files: readonly string[]): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = [];
  const engine = await createTemporalEngine({
    environment: process.env,
    onEnded: async ({ address, store, runId }: EndedRun) => {
      const run = { tenant: 'default', runId };
      bundles.push(await exportTree({ address, namespace: NAMESPACE, store }, run));
    },
  });
  try {
    const fixtures = await Promise.all(files.map((file) => readFixture(file, file)));
    const play = limited(engine.concurrency, (one: (typeof fixtures)[number]) =>
      engine.run(one, { seed: SEED }),
    );
    await Promise.all(fixtures.map(play));
    return bundles;
  } finally {
    await engine.stop();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-trees-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(SCENARIOS, folder)).map((name) => join(SCENARIOS, folder, name)),
  ).filter((name) => name.endsWith('.json'));
  const always = ALWAYS.map((name) => join(SCENARIOS, name));
  const chosen = [...new Set([...drawn(files, PLAYED, SEED), ...always])];
  saySeed(`${chosen.length} of ${files.length} cases of trees are recorded and captured`);
  cases = (await recorded(chosen)).flatMap((bundle) => {
    const { runId } = bundle.run;
    bundles.set(runId, bundle);
    if ([ONE_SUB_AGENT, WITH_AN_EFFECT].includes(runId))
      writeFileSync(join(folder, `${runId}.json`), bundleText(bundle));
    try {
      return [capture(bundle)];
    } catch (error) {
      refusals.push(`${bundle.run.runId}: ${(error as Error).message}`);
      return [];
    }
  });
}, 5 * LIMIT_MS);

test(
  'a run that was exported with everything below it is a case that passes in the simulation',
  async () => {
    const failed: string[] = [];
    for (const one of cases) {
      const differences = await differencesOf(one, one.case_id).catch((error: Error) => [
        error.message,
      ]);
      if (differences.length > 0)
        failed.push(`${one.case_id}: ${JSON.stringify(differences[0]).slice(0, 600)}`);
    }
    expect(failed).toEqual([]);
    expect(refusals.filter((text) => !NAMED.test(text))).toEqual([]);
    expect(cases.length).toBeGreaterThan(refusals.length);
    expect(cases.map((one) => one.case_id)).toContain('MC-unfit-read');
  },
  LIMIT_MS,
);

test(
  'some of them pass on a real server as well',
  async () => {
    const engine = await createTemporalEngine({ environment: process.env });
    try {
      for (const one of cases.slice(0, ON_A_SERVER)) {
        const fixture = parseFixture(JSON.stringify(one), one.case_id);
        const played = await engine.run(fixture, { seed: SEED });
        const differences = played.kind === 'observed' ? compare(fixture, played.observed) : played;
        expect([one.case_id, differences]).toEqual([one.case_id, []]);
      }
    } finally {
      await engine.stop();
    }
  },
  3 * LIMIT_MS,
);

/** What people did at a moment of the recorded model is not done to another one. */
const AT_A_MOMENT = /"(interrupt|cancel|close|setModel|setPermissionMode|setMaxThinkingTokens)"/;

test.each([
  ['the recorded one, which sub-agents have as well', undefined],
  ['another one', 'another'],
])(
  'with a model that says what the root said then, every tree ends as it did, with the same effects: %s',
  async (_, name) => {
    const changed: string[] = [];
    const played = cases.filter(({ during = [] }) => !AT_A_MOMENT.test(JSON.stringify(during)));
    for (const one of played) {
      const bundle = bundles.get(one.case_id)!;
      const play = await playPast(bundle, {
        unmatched: 'stop',
        model: sameModel(bundle, one, name),
      });
      const outcome = outcomeOf(one.case_id, play);
      const { same_end, same_effects, unmatched, was, now } = outcome;
      const isSame = same_end && same_effects && was.cost_micro_usd === now.cost_micro_usd;
      if (!isSame || unmatched.length > 0)
        changed.push(`${one.case_id}: ${JSON.stringify(outcome)}`);
    }
    expect(changed).toEqual([]);
    const names = played.map((one) => one.case_id);
    expect(names).toEqual(expect.arrayContaining([WITH_AN_EFFECT, TWO_GENERATIONS, TAKEN_OVER]));
  },
  LIMIT_MS,
);

/** Asked in earnest, it says what the recorded one said, and costs as much. */
function sameModel(bundle: Bundle, document: FixtureDocument, called: string | undefined) {
  const { route } = recordingOf(bundle).frozen;
  const name = called ?? route.name;
  const provider = inEarnest(parseFixture(JSON.stringify(document), document.case_id).model);
  return {
    name,
    routes: [{ ...route, name, provider: provider.name }],
    providers: new Map([[provider.name, provider]]),
  };
}

async function evaluated(prompt: string): Promise<PastReport> {
  const model = await startScriptedModel({
    script: scriptOf([
      { calls: [{ tool: 'agent', input: { name: 'r', prompt } }] },
      { text: 'Done.' },
    ]),
  });
  const words = [
    'eval',
    '--from',
    `${ONE_SUB_AGENT}.json`,
    '--model',
    'scripted/new',
    '--json',
    'past.json',
  ];
  const variables = { ANTHROPIC_API_KEY: 'of-a-test', ANTHROPIC_BASE_URL: model.baseUrl };
  try {
    await runCli([...words, '--unmatched', 'refuse'], {
      environment: { variables, folder, colour: false, interactive: false },
      streams: { out: () => undefined, err: () => undefined },
    });
    return JSON.parse(readFileSync(join(folder, 'past.json'), 'utf8')) as PastReport;
  } finally {
    await model.stop();
  }
}

test('on the past a sub-agent says what it said to the same task; another task is told and ends the run', async () => {
  const [same] = (await evaluated('Review order 1.')).runs;
  // Its own call, and that of its sub-agent.
  expect(same).toMatchObject({ kind: 'played', same_end: true, unmatched: [], now: { calls: 2 } });
  const other = 'Review order 2.';
  const [told] = (await evaluated(other)).runs;
  expect(told).toMatchObject({
    kind: 'played',
    same_end: false,
    unmatched: [{ kind: 'call', tool: 'agent', input: { name: 'r', prompt: other } }],
    now: { stop_reason: 'aborted', calls: 0 },
  });
});

async function planned(run: string, ...more: readonly string[]) {
  let out = '';
  await runCli(['fork', `${run}.json`, '--at', '2', '--plan', '--json', ...more], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: () => undefined },
  });
  return JSON.parse(out) as { readonly runId: string; readonly handedOver: object };
}

test('the plan of a fork names the calls with effects of the other runs of its file, and none that only reads', async () => {
  const [root, child] = [WITH_AN_EFFECT, `${WITH_AN_EFFECT}:a1`];
  expect(await planned(root)).toMatchObject({
    runId: root,
    handedOver: {
      before: [],
      after: [],
      family: [{ key: `${child}:0`, runId: child, tool: 'issue_refund' }],
    },
  });
  const below = await planned(root, '--run', 'a1');
  expect(below).toMatchObject({ runId: child, handedOver: { after: [{ tool: 'issue_refund' }] } });
  for (const plan of [below, await planned(ONE_SUB_AGENT)])
    expect(plan.handedOver).not.toHaveProperty('family');
});

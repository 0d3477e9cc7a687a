/**
 * A goal that releases of the worker serve one after another: another build, newer rules twice, another version of the
 * agent. Each begins a new segment, and each release replays what its rules know. Only with HOLDFAST_WHOLE=1: it takes
 * ten seconds of a processor.
 */
import { readFileSync } from 'node:fs';
import { createActivities } from '../../activities/index.js';
import type { Config } from '../../authoring/index.js';
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { codeId } from '../../core/step/code-id.js';
import type { Bundle } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { reportLines } from '../../replay/report-text.js';
import { replayRunsOf, type ReplayableRun } from '../../replay/strict-replay.js';
import { rulesOf } from '../../replay/versions.js';
import { markedForReplay, workflowBundle } from '../../worker/workflow-code.js';
import { WHOLE } from '../seed.js';
import { AGENT, config } from './support/agents.js';
import { failedTasks, ofType, say, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 240_000;
/** Of each release. */
const CYCLES = 2;
const GOAL_ID = 'served-by-releases';

interface Release {
  readonly name: string;
  readonly rules: number;
  readonly agent: string;
}

const [FIRST, SECOND, NEWEST] = [RULES_VERSION, RULES_VERSION + 1, RULES_VERSION + 2];
const RELEASES: readonly Release[] = [
  { name: '1.0.0', rules: FIRST, agent: '1' },
  { name: '1.0.1', rules: FIRST, agent: '1' },
  { name: '1.1.0', rules: SECOND, agent: '1' },
  { name: '1.1.1', rules: SECOND, agent: '2' },
  { name: '1.2.0', rules: NEWEST, agent: '2' },
];

/** This code, where rules that are newer than today's name each activity by themselves. */
async function codeOf({ rules }: Release): Promise<string> {
  const bundle = await workflowBundle();
  const text = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
  const named = `{ ...build(id, carried), ...(run.rules > ${FIRST} && { summary: 'rules ' + run.rules }) }`;
  const changed = text
    .replace(/(RULES_VERSION = )Math\.max\([^;]*;/, (_, begin: string) => `${begin}${rules};`)
    .replace(/(\(carried\) ?=> ?)build\(id, carried\)/, (_, begin: string) => `${begin}(${named})`);
  expect(changed).toContain(`RULES_VERSION = ${rules};`);
  expect(changed).toContain(named);
  return changed;
}

const idOf = ({ name, rules }: Release) => codeId(name, '0123456789ab', rules);

function configOf(serviceUrl: string, version: string): Config {
  const whole = config({ serviceUrl });
  const agents = [...whole.agents].map(([name, agent]) => [name, { ...agent, version }] as const);
  return { ...whole, agents: new Map(agents) };
}

const COUNT = RELEASES.length * CYCLES;
const DEFINITION: GoalDefinition = {
  objective: 'Nothing is left.',
  agent: AGENT,
  done: { all: [{ state: 'left', equals: 0 }] },
  budget: { maxCostMicroUsd: 50_000_000 },
  cycle: { maxCostMicroUsd: 2_000_000, maxTurns: 6 },
  reviewEvery: { cycles: 2 },
  pace: { everyMs: 1_000 },
  // A value that changes is no progress.
  stopRules: { noProgressCycles: 100 },
};

const whole = WHOLE ? describe : describe.skip;

whole('a goal that five releases serve', () => {
  let world: World;
  let bundles: readonly Bundle[];
  let codes: ReadonlyMap<Release, string>;
  let costMicroUsd: number;
  beforeAll(async () => {
    world = await startWorld({ worker: false });
    codes = new Map(
      await Promise.all(RELEASES.map(async (one) => [one, await codeOf(one)] as const)),
    );
    for (let n = 1; n <= COUNT; n += 1) {
      const left = { path: 'left', value: COUNT - n };
      world.script(`${GOAL_ID}:c${n}`, [
        { calls: [{ tool: 'goal_publish', input: left }] },
        say(`${COUNT - n} left.`),
      ]);
    }
    const goal = await world.client.startGoal({
      definition: DEFINITION,
      goalId: GOAL_ID,
      wait: false,
    });
    const handle = world.raw.workflow.getHandle(GOAL_ID);
    for (const [index, release] of RELEASES.entries()) {
      const { rules, agent } = release;
      // While nobody serves: the release that comes hears of it first.
      if (index > 0) await handle.signal('nextSegment');
      const worker = await world.serve({
        config: configOf(world.service.url, agent),
        activities: (deps) => createActivities({ ...deps, rules }),
        release: { code: codes.get(release)!, id: idOf(release) },
      });
      if (index === RELEASES.length - 1) break;
      await until(`the cycles of ${release.name}`, async () =>
        ofType(await world.events(GOAL_ID), 'cycle_ended').length >= (index + 1) * CYCLES
          ? true
          : undefined,
      );
      await world.retire(worker);
    }
    ({ costMicroUsd } = await goal.result({ timeoutMs: LIMIT_MS }));
    const ids = [
      GOAL_ID,
      ...Array.from({ length: COUNT }, (_, index) => `${GOAL_ID}:c${index + 1}`),
    ];
    bundles = await Promise.all(
      ids.map((runId) =>
        exportRun({ ...world.place, store: world.store }, { tenant: 'default', runId }),
      ),
    );
  }, LIMIT_MS);
  afterAll(() => world.stop(), LIMIT_MS);

  test('it goes on cycle by cycle, and ends as it would have', async () => {
    const events = await world.events(GOAL_ID);
    const ended = ofType(events, 'cycle_ended');
    expect(ended.map(({ n, stopReason }) => [n, stopReason])).toEqual(
      ended.map((_, index) => [index + 1, 'completed']),
    );
    expect(ended).toHaveLength(COUNT);
    expect(ofType(events, 'goal_review')).toHaveLength(COUNT / 2);
    expect(costMicroUsd).toBe(ended.reduce((sum, one) => sum + one.costMicroUsd, 0));
    expect(events.at(-1)).toMatchObject({
      type: 'goal_result',
      result: { completed: true, goal: { cycles: COUNT } },
    });
    for (let n = 1; n <= COUNT; n += 1) {
      expect(world.requests(`${GOAL_ID}:c${n}`)).toHaveLength(2);
    }
  });

  test('each segment follows the rules of the release that began it, and says which releases decided it', async () => {
    const [goal, ...cycles] = bundles;
    expect(goal!.segments.map(({ events }) => rulesOf(events))).toEqual(
      RELEASES.map(({ rules }) => rules),
    );
    expect(goal!.versions.code).toEqual(RELEASES.map(idOf));
    expect(goal!.versions.rules).toBe(NEWEST);
    expect(failedTasks(await world.history(GOAL_ID))).toEqual([]);
    const agents = RELEASES.map(({ agent }) => agent);
    // A cycle that has begun when a release comes keeps its agent.
    const begun = cycles.map(({ versions }) => versions.frozen['agent']);
    expect([...new Set(begun)]).toEqual([...new Set(agents)]);
    const newer = begun.indexOf('2');
    expect(begun.slice(newer).every((version) => version === '2')).toBe(true);
  });

  test(
    'what a release knows the rules of it replays strictly, and nothing else',
    async () => {
      const parts = bundles.flatMap(({ run, segments }): readonly ReplayableRun[] =>
        segments.map((segment) => ({ run, segments: [segment] })),
      );
      for (const release of RELEASES) {
        const code = { bundle: { code: markedForReplay(codes.get(release)!) } };
        const [known, unknown] = [true, false].map((wanted) =>
          parts.filter(
            ({ segments }) => (rulesOf(segments[0]!.events) ?? 0) <= release.rules === wanted,
          ),
        );
        for await (const report of replayRunsOf(known!, code)) {
          expect([release.name, report.equal ? '' : reportLines(report).join('\n')]).toEqual([
            release.name,
            '',
          ]);
        }
        for await (const { equal } of replayRunsOf(unknown!, code)) expect(equal).toBe(false);
      }
    },
    LIMIT_MS,
  );
});

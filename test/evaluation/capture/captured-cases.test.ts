/**
 * Recorded runs as cases: each passes as it was recorded, and one that is changed by hand fails at the call that was changed.
 *
 * HOLDFAST_SEED: which of them are played on a real server.
 */
import { capture } from '../../../evaluation/capture/capture.js';
import { differencesOf } from '../../../evaluation/capture/check.js';
import { openEngines } from '../../../evaluation/engines.js';
import { evaluate } from '../../../evaluation/evaluate.js';
import type { FixtureDocument } from '../../../evaluation/format/document.js';
import { foldOf } from '../../../recording/fold.js';
import { parseFixture } from '../../../evaluation/read-fixture.js';
import { drawn } from '../../draw.js';
import { saySeed, SEED, WHOLE } from '../../seed.js';
import { recordedRun, recordedRuns } from './recorded-runs.js';

const LIMIT_MS = WHOLE ? 600_000 : 60_000;
/** HOLDFAST_WHOLE=1: all of them. */
const RUNS = WHOLE ? Infinity : 80;
const ON_A_SERVER = WHOLE ? Infinity : 4;

/** Their tasks hear of the ends of work that is done within them. */
const QUICK = ['quick-reads-large', 'C17-quick-reads-in-a-row'];
/** Hooks see its results before the model does. */
const HOOKED = 'random-456244007-102';

let cases: readonly FixtureDocument[];
const refusals: string[] = [];

beforeAll(() => {
  const names = recordedRuns();
  const chosen = drawn(names, RUNS, SEED);
  saySeed(`${chosen.length} recorded runs are captured, ${ON_A_SERVER} of them for a real server`);
  cases = chosen.flatMap((name) => {
    try {
      return [capture(recordedRun(name))];
    } catch (error) {
      refusals.push(`${name}: ${(error as Error).message}`);
      return [];
    }
  });
});

test(
  'a recorded run is a case that passes in the simulation',
  async () => {
    const failed: string[] = [];
    for (const one of cases) {
      const [first] = await differencesOf(one, one.case_id);
      if (first !== undefined) failed.push(`${one.case_id}: ${JSON.stringify(first)}`);
    }
    expect(failed).toEqual([]);
    expect(cases.length).toBeGreaterThan(refusals.length);
  },
  LIMIT_MS,
);

test(
  'what had happened after any step of a run is a case as well',
  async () => {
    const failed: string[] = [];
    const others = drawn(recordedRuns(), WHOLE ? 40 : 2, SEED).filter(isCase);
    for (const name of [...QUICK, HOOKED, ...others]) {
      const bundle = recordedRun(name);
      for (const { step } of foldOf(bundle).steps) {
        const begun = capture(bundle, { until: step });
        const [first] = await differencesOf(begun, begun.case_id);
        if (first !== undefined) failed.push(`${begun.case_id}: ${JSON.stringify(first)}`);
      }
    }
    expect(failed).toEqual([]);
  },
  LIMIT_MS,
);

/** Whether the whole of it is a case at all. */
function isCase(name: string): boolean {
  return cases.some((one) => one.case_id === recordedRun(name).run.runId);
}

test.each(['S166c', 'sessions-next', 'conversation-three'])(
  'tools that a vendor ran, and conversations that went on, are part of the case: %s',
  async (name) => {
    const one = capture(recordedRun(name));
    expect(await differencesOf(one, one.case_id)).toEqual([]);
  },
);

test('a session is in the case as far as the run went on with it, and what a vendor ran with its result', () => {
  const { sessions, task } = capture(recordedRun('sessions-next'));
  expect(task).toMatchObject({ resume: 'base' });
  expect(sessions).toEqual([
    { id: 'base', messages: [{ user: 'Serve the customer.' }, { assistant: { text: 'Hi.' } }] },
  ]);
  const { tools } = capture(recordedRun('S166c'));
  expect(tools).toMatchObject({
    hosted_search: { kind: 'hosted', results: [expect.anything(), { ok: { delay: '2 days' } }] },
  });
});

test('a run that limits across runs refused before anybody was asked is no case, and says so', () => {
  expect(() => capture(recordedRun('named-changes-of-19-beyond'))).toThrow(
    'other runs had used up a limit of payments.refund before anybody was asked',
  );
});

test('what no case can say is refused by name', () => {
  const named =
    /is a sub-agent of|has the task of|the bundle lacks the run|wrote letters|time was over|is a fork of|used up a limit/;
  expect(refusals.filter((text) => !named.test(text))).toEqual([]);
});

test(
  'with one recorded result changed, the first difference is at that call',
  async () => {
    const changed = cases.flatMap((one) => changedResult(one) ?? []);
    expect(changed.length).toBeGreaterThan(2);
    for (const { document, call } of changed) {
      const [first] = await differencesOf(document, document.case_id);
      expect([document.case_id, first?.path]).toEqual([
        document.case_id,
        expect.stringMatching(new RegExp(`^results\\.${call}(\\.|$)`)),
      ]);
    }
  },
  LIMIT_MS,
);

test(
  'it passes on a real server as well, where both engines agree',
  async () => {
    const engines = await openEngines('both', { environment: process.env });
    const failed: string[] = [];
    try {
      const fixtures = cases
        .filter(({ case_id: id }) => !isUpToTheMoment(id))
        .slice(0, ON_A_SERVER)
        .map((one) => parseFixture(JSON.stringify(one), one.case_id));
      for await (const { fixture, outcome, differences } of evaluate(fixtures, {
        engines,
        seed: SEED,
      })) {
        const isFine = outcome === 'passed' || outcome === 'skipped';
        if (!isFine) failed.push(`${fixture.caseId}: ${outcome} ${JSON.stringify(differences[0])}`);
      }
      expect(failed).toEqual([]);
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()));
    }
  },
  3 * LIMIT_MS,
);

/**
 * Random runs have limits of a second or two, which a busy machine passes by itself. Two models are named at once in
 * `steered`: whether the first one is refused before the second is heard is up to the engine.
 */
function isUpToTheMoment(caseId: string): boolean {
  return caseId.startsWith('random-') || caseId === 'steered';
}

/** The first result that a tool gave and the case expects, changed in the record of the tool alone. */
function changedResult(
  one: FixtureDocument,
): { readonly document: FixtureDocument; readonly call: string } | undefined {
  const { executed = [], results = {} } = one.expected;
  for (const { call = '', tool, input } of executed) {
    const tools = one.tools === 'live' ? {} : (one.tools ?? {});
    const record = tools[tool];
    const place = record?.recorded?.findIndex(
      (recorded) => JSON.stringify(recorded.input) === JSON.stringify(input),
    );
    const answers = record?.recorded?.[place ?? -1]?.results ?? [];
    if (place === undefined || answers.length !== 1 || !('ok' in answers[0]!)) continue;
    if (results[call]?.status !== 'ok' || one.settings?.toolExecution === 'dataflow') continue;
    const other = { input, results: [{ ok: { changed: 'by hand' } }] };
    const recorded = record!.recorded!.with(place, other);
    return { document: { ...one, tools: { ...tools, [tool]: { ...record, recorded } } }, call };
  }
  return undefined;
}

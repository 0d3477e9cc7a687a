/** Recorded runs, a few of them. HOLDFAST_WHOLE=1: both ends of a write; HOLDFAST_SEED: of the draw. */
import { join } from 'node:path';
import { matchOutcomes, readExpectedOutcomes } from '../../lab/proving/expected-outcomes';
import { proving } from '../../lab/proving/main';
import { AIRLINE } from '../../lab/proving/airline/tools';
import { planKill, type KillPlan, type MomentPlan } from '../../lab/proving/kill-plan';
import type * as Proving from '../../lab/proving/prove';
import type { ProveOptions, RunReport } from '../../lab/proving/prove';
import { readRecording } from '../../lab/proving/recording';
import { RETAIL } from '../../lab/proving/retail/tools';
import { parkedLine, summarise, summaryLine } from '../../lab/proving/summary';
import { compiled } from '../compiled';
import { drawn } from '../draw';
import { SEED, WHOLE } from '../seed';
import { describeWithMaterial, TAU2, TAU_BENCH } from './material';
import { playable } from './playable';

const { prove } = compiled<typeof Proving>('lab/proving/prove.ts');
const RECORDING = join(TAU2, 'trajectories', 'retail', 'gpt-4.1_40.json');
const EXPECTED = join(TAU2, 'expected', 'retail', 'gpt-4.1_40.json');
/** Both runs have a write, and the seed kills each of them in the middle. */
const CHOSEN = ['task-26-trial-0', 'task-53-trial-0'];
const LIMIT_MS = 240_000;

async function proveChosen(
  options: Pick<ProveOptions, 'kill' | 'seed'>,
): Promise<readonly RunReport[]> {
  const recording = readRecording(RECORDING);
  return prove({
    domain: RETAIL,
    mode: 'keys',
    recording,
    outcomes: matchOutcomes(recording, readExpectedOutcomes(EXPECTED)),
    databaseFiles: [join(TAU2, 'retail', 'db.json')],
    choose: (run) => CHOSEN.includes(run.id),
    concurrency: 2,
    say: () => undefined,
    signal: new AbortController().signal,
    ...options,
  });
}

describeWithMaterial('the proving harness', () => {
  test(
    'plays recorded runs through the real workflow',
    async () => {
      const reports = await proveChosen({ kill: 'none', seed: 1 });
      expect(reports.flatMap((report) => report.failures)).toEqual([]);
      const summary = summarise(reports);
      expect(summary.holds).toBe(true);
      expect(summary.modelRequests).toBe(summary.turns);
      expect(summaryLine(summary)).toBe(
        '2 runs completed 2, outputs equal 14/14, records equal 2/2, ledger rows 2/2, ' +
          'duplicates 0, unapproved writes 0, without consent 0, invariants ok, replayed 2/2',
      );
    },
    LIMIT_MS,
  );

  test(
    'gives the same when the worker of each run is killed once',
    async () => {
      const reports = await proveChosen({ kill: 'random', seed: 1 });
      expect(reports.flatMap((report) => report.failures)).toEqual([]);
      expect(reports.map((report) => report.kills)).toEqual([1, 1]);
      expect(reports.map((report) => report.looks)).toEqual([1, 1]);
      expect(summarise(reports)).toMatchObject({ ledgerRows: 2, outputsEqual: 14, holds: true });
    },
    LIMIT_MS,
  );
});

describeWithMaterial('a service that ignores keys', () => {
  const recording = () => readRecording(join(TAU_BENCH, 'trajectories', 'gpt-4o-airline.json'));

  /** Plays a run with one write, its worker killed at the write. */
  async function killedAtWrite(when: MomentPlan['when']): Promise<readonly RunReport[]> {
    const airline = recording();
    const run = playable(airline.runs[43]!, AIRLINE);
    const isWanted = (plan: KillPlan): boolean =>
      plan.kind === 'moment' && plan.at === 'write' && plan.when === when;
    const seed = Array.from({ length: 1_000 }, (_, at) => at).find((at) =>
      isWanted(planKill(at, run)),
    );
    return prove({
      domain: AIRLINE,
      mode: 'nokeys',
      recording: airline,
      outcomes: matchOutcomes(
        airline,
        readExpectedOutcomes(join(TAU_BENCH, 'expected', 'gpt-4o-airline.json')),
      ),
      databaseFiles: [
        join(TAU_BENCH, 'airline', 'data'),
        join(TAU_BENCH, 'airline', 'data_as_recorded'),
      ],
      choose: ({ id }) => id === run.id,
      kill: 'random',
      seed: seed ?? 0,
      concurrency: 1,
      say: () => undefined,
      signal: new AbortController().signal,
    });
  }

  const ends = [
    ['after', { happened: 1, notHappened: 0 }],
    ['before', { happened: 0, notHappened: 1 }],
  ] as const;

  test.each(WHOLE ? ends : drawn(ends, 1, SEED))(
    'a write whose worker dies %s its effect waits for a person, and takes effect once',
    async (when, parked) => {
      const reports = await killedAtWrite(when);
      expect(reports.flatMap((report) => report.failures)).toEqual([]);
      const summary = summarise(reports);
      expect(summary).toMatchObject({ kills: 1, parked, duplicates: 0, repeated: 0, holds: true });
      expect(summary.ledgerRows).toBe(summary.ledgerExpected);
      expect(parkedLine(summary)).toContain('parked as outcome_unknown 1');
    },
    LIMIT_MS,
  );
});

describeWithMaterial('npm run proving', () => {
  const given = ['--domain', 'retail', '--recording', RECORDING, '--expected', EXPECTED];
  const airline = (folder: string): string => join(TAU_BENCH, folder, 'gpt-4o-airline.json');
  let output: string;

  beforeEach(() => {
    output = '';
    for (const stream of [process.stdout, process.stderr]) {
      jest.spyOn(stream, 'write').mockImplementation((text) => {
        output += String(text);
        return true;
      });
    }
  });
  afterEach(() => jest.restoreAllMocks());

  test.each<[string, readonly string[], string]>([
    ['what lacks several options', ['--kill', 'every'], '--domain, --recording, --expected'],
    ['no recording', ['--domain', 'retail'], '--recording'],
    [
      'a report in a folder that is not there',
      [...given, '--json', '/none/x.json'],
      'no folder /none',
    ],
    ['a report that is a folder', [...given, '--json', '/'], 'that is a folder'],
    [
      'a file that is not JSON',
      [...given, '--recording', __filename],
      'trajectories file of tau-bench',
    ],
    [
      'a domain without tools',
      [...given, '--domain', 'bank'],
      'Allowed choices are retail, airline',
    ],
    ['a mode that is none', [...given, '--mode', 'some'], 'Allowed choices are keys, nokeys'],
    ['a number that is none', [...given, '--runs', 'all'], 'whole number'],
    ['a file that is not there', [...given, '--expected', 'none.json'], 'none.json is not a file'],
    ['a file that is not a recording', [...given, '--recording', EXPECTED], 'Not a tau-bench'],
    [
      'outcomes of other runs',
      [...given, '--expected', airline('expected')],
      'No expected outcome',
    ],
    ['a boundary that is none', [...given, '--kill', 'sometimes'], 'Allowed choices are none'],
    ['faults that exclude each other', [...given, '--pause', '--kill', 'every'], 'do not go'],
    ['a run that is not there', [...given, '--only', 'task-0'], 'no such run'],
    [
      'a recording of another domain',
      [...given, '--recording', airline('trajectories'), '--expected', airline('expected')],
      'calls tools that the domain retail does not have',
    ],
  ])('refuses %s with exit code 2', async (_, args, message) => {
    expect(await proving(['node', 'proving', ...args])).toBe(2);
    expect(output).toContain(message);
  });

  test('refuses a store at an address of another kind, and makes no file of it', async () => {
    const store = 'foo://me:secret@x';
    expect(await proving(['node', 'proving', ...given, '--store', store])).toBe(1);
    expect(output).toContain('postgres://user:password@host');
    expect(output).not.toContain('secret');
  });

  test('explains itself', async () => {
    expect(await proving(['node', 'proving', '--help'])).toBe(0);
    expect(output).toContain('--kill <when>');
    expect(output.match(/\(required/g)).toHaveLength(3);
  });
});

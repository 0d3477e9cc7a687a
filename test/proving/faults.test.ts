import { Command } from 'commander';
import {
  addFaultOptions,
  describeFaults,
  faultsOf,
  faultWords,
  type FaultOptions,
} from '../../lab/proving/fault-options';
import { planPause } from '../../lab/proving/kill-plan';
import { planModelFaults, withFault } from '../../lab/proving/model-faults';
import type { PlayedRun } from '../../lab/proving/played-run';
import { parseRecording } from '../../lab/proving/recording';
import { RETAIL } from '../../lab/proving/retail/tools';
import { leftOutLine, playsOf } from '../../lab/proving/run-faults';
import { planServerKills, serverKiller } from '../../lab/proving/server-killer';
import { excusedCalls, faultyCalls, planToolFault } from '../../lab/proving/tool-faults';
import { createWitness } from '../../lab/proving/witness';
import { CRASH_BOUNDARIES, planCrash, seededRandom } from '../../testing/index';
import { playable } from './playable';

const READ = 'list_all_product_types';
const WRITE = 'cancel_pending_order';

function recorded(index: number, tool: string, calls: number): PlayedRun {
  const turns = Array.from({ length: calls }, (_, call) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${call}`, name: tool, arguments: {} }],
    },
    { role: 'tool', id: `c${call}`, content: 'ok', error: false },
  ]);
  const messages = [
    { role: 'user', content: 'please' },
    ...turns.flat(),
    { role: 'assistant', content: 'done' },
  ];
  const recording = parseRecording({ simulations: [{ task_id: '1', trial: 0, messages }] });
  return { ...playable(recording.runs[0]!, RETAIL), index };
}

const writing = recorded(0, WRITE, 3);
const reading = recorded(1, READ, 2);

function parsed(...words: string[]): FaultOptions {
  const command = addFaultOptions(new Command()).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  return command.parse(['node', 'proving', ...words]).opts<FaultOptions>();
}

describe('the flags for faults', () => {
  test('are none unless they are given', () => {
    expect(faultsOf(parsed())).toEqual({ kill: 'none' });
    expect(describeFaults(faultsOf(parsed()))).toBe('kill none');
  });

  test('say what goes wrong, and repeat it', () => {
    const words = ['--kill', 'every', '--server-kill', '--model-faults'];
    const faults = faultsOf(parsed(...words, '--tool-faults', 'applied-then-lost'));
    expect(faults).toEqual({
      kill: 'every',
      serverKills: 10,
      modelFaults: true,
      toolFaults: 'applied-then-lost',
    });
    expect(faultsOf(parsed(...faultWords(faults)))).toEqual(faults);
    expect(faultsOf(parsed('--server-kill', '3', '--kill', 'mid-stream'))).toEqual({
      kill: 'mid-stream',
      serverKills: 3,
    });
  });

  test.each([
    [['--pause', '--kill', 'random'], '--pause and --kill'],
    [['--pause', '--server-kill'], '--pause and --server-kill'],
    [['--pause', '--tool-faults', '503-forever'], '503-forever and --pause'],
    [['--kill', 'every', '--tool-faults', '503-forever'], '503-forever and --kill'],
  ])('refuse %p', (words, message) => {
    expect(() => faultsOf(parsed(...words))).toThrow(message);
  });

  test.each([[['--kill', 'sometimes']], [['--server-kill', '0']], [['--tool-faults', '504']]])(
    'do not know %p',
    (words) => {
      expect(() => parsed(...words)).toThrow(/Allowed choices|whole number/);
    },
  );
});

describe('plans of kills', () => {
  test('a run is played once for every boundary that it passes', () => {
    const boundaries = (run: PlayedRun): readonly unknown[] =>
      playsOf({ kill: 'every' }, 1, [run]).map(({ plan }) =>
        plan?.kind === 'boundary' ? plan.boundary : undefined,
      );
    expect(boundaries(writing)).toEqual([...CRASH_BOUNDARIES]);
    expect(boundaries(reading)).toEqual(
      CRASH_BOUNDARIES.filter((name) => !/claim|effect|record/.test(name)),
    );
    const ids = playsOf({ kill: 'every' }, 1, [writing, reading]).map(({ runId }) => runId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('one boundary alone is met at the place where every boundary met it', () => {
    for (const boundary of CRASH_BOUNDARIES) {
      const [alone] = playsOf({ kill: boundary }, 5, [writing]);
      const every = playsOf({ kill: 'every' }, 5, [writing]).map(({ plan }) => plan);
      expect(every).toContainEqual(alone?.plan);
    }
    expect(playsOf({ kill: 'after-effect' }, 5, [reading])).toEqual([]);
  });

  test('what is left out is named, with the reason', () => {
    const runs = [writing, reading];
    const line = (kill: 'every' | 'before-claim'): string | undefined =>
      leftOutLine(kill, runs, playsOf({ kill }, 5, runs));
    expect(line('before-claim')).toMatch(
      `left out 1 of 2 runs, which never come to before-claim (only a call that changes something is claimed): ${reading.id}`,
    );
    expect(line('every')).toBeUndefined();
  });

  test('a seed reaches every passage, and always the same', () => {
    const passages = { 'after-claim': 3 };
    const plans = Array.from({ length: 50 }, (_, seed) => planCrash({ seed, stream: 0, passages }));
    expect(new Set(plans.map((plan) => plan?.nth))).toEqual(new Set([0, 1, 2]));
    expect(plans).toEqual(plans.map((_, seed) => planCrash({ seed, stream: 0, passages })));
    expect(planCrash({ seed: 1, stream: 0, passages: {} })).toBeUndefined();
    expect(seededRandom(1, 0)()).not.toBe(seededRandom(1, 1)());
  });

  test('a worker is frozen with a claim in hand where there is one', () => {
    expect(planPause(1, writing)).toMatchObject({ boundary: 'after-claim', pause: true });
    expect(planPause(1, reading)).toMatchObject({ boundary: 'after-model-request', pause: true });
  });
});

describe('the server', () => {
  test('is killed as often as wanted before the runs are over, each time by the seed', () => {
    const plan = planServerKills(4, 10, 100);
    expect(plan).toHaveLength(10);
    expect(plan.every(({ after }) => after >= 1 && after <= 100)).toBe(true);
    expect(plan.toSorted((a, b) => a.after - b.after)).toEqual(plan);
    expect(planServerKills(4, 10, 100)).toEqual(plan);
    expect(planServerKills(5, 10, 100)).not.toEqual(plan);
  });

  test('dies once at a time, and never while it is down', async () => {
    let down = 0;
    let crashes = 0;
    const killer = serverKiller({
      server: {
        async crash() {
          down += 1;
          expect(down).toBe(1);
          await Promise.resolve();
          down -= 1;
          crashes += 1;
        },
      },
      plan: [1, 2, 2].map((after) => ({ after, downMs: 0 })),
      onKill: () => Promise.resolve(),
    });
    killer.requested();
    killer.requested();
    await killer.settled();
    expect(crashes).toBe(3);
  });
});

describe('faults of the model', () => {
  test('strike each run at least once, by the seed, and only the first request', () => {
    const faults = planModelFaults(9, reading);
    expect(faults.size).toBeGreaterThan(0);
    expect(planModelFaults(9, reading)).toEqual(faults);
    const answer = withFault({ text: 'hello' }, 'overloaded');
    expect(answer).toEqual([{ status: 529 }, { text: 'hello' }]);
    expect(withFault({ text: 'hello' }, undefined)).toEqual({ text: 'hello' });
  });
});

describe('faults of tools', () => {
  const plan = (fault: '503-once' | '503-forever' | 'applied-then-lost') =>
    faultyCalls({ fault, callId: 'c1', writes: true });

  test('strike one call of a run', () => {
    const planned = planToolFault('503-once', 2, writing)!;
    expect([...writing.calls.keys()]).toContain(planned.callId);
    expect(planToolFault('503-once', 2, writing)).toEqual(planned);
  });

  test('turn it away once, always, or lose its answer', () => {
    const once = plan('503-once');
    expect(['c0', 'c1', 'c1'].map((id) => once.tried(id))).toEqual([
      undefined,
      'refuse',
      undefined,
    ]);
    const always = plan('503-forever');
    expect(['c1', 'c1'].map((id) => always.tried(id))).toEqual(['refuse', 'refuse']);
    const lost = plan('applied-then-lost');
    expect(['c1', 'c1'].map((id) => lost.tried(id))).toEqual(['lose', undefined]);
    expect(lost.tries()).toBe(2);
  });

  test('excuse what a call that never worked changes, and nothing else', () => {
    expect([...excusedCalls(writing, plan('503-once'))]).toEqual([]);
    expect([...excusedCalls(writing, plan('503-forever'))]).toEqual(['c1', 'c2']);
    const read = faultyCalls({ fault: '503-forever', callId: 'c0', writes: false });
    expect([...excusedCalls(reading, read)]).toEqual(['c0']);
  });
});

test('a witness notices an event that was known and is another one now', async () => {
  const event = (seq: number, code: string) =>
    ({ type: 'warning', code, message: '', stamp: { seq } }) as never;
  let stored = [event(0, 'a'), event(1, 'b')];
  const witness = createWitness(
    {
      readEvents: (_, { sinceSeq }) =>
        Promise.resolve({ events: stored.slice(sinceSeq), nextSeq: 0, epoch: 0 }),
    },
    { tenant: 'default', runId: 'r' },
  );
  await witness.look();
  stored = [...stored, event(2, 'c')];
  expect(witness.missing(stored)).toEqual([]);
  expect(witness.missing([event(0, 'a'), event(1, 'x'), event(2, 'c')])).toEqual([
    'event 1, known at death 1, is another one now',
  ]);
  expect(witness.missing(stored.slice(0, 1))).toHaveLength(1);
});

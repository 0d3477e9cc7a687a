/** Active time is the union of what effects worked; everything else is waiting (G115). */
import fc from 'fast-check';
import { creditWork, elapse } from '../../../core/step/clock.js';
import { RULES_VERSION } from '../../../core/step/changes.js';
import { finish } from '../../../core/step/inflight.js';
import { open } from '../../../core/loop/open.js';
import type { Run } from '../../../core/state/run.js';

const START = 1_000;

function fresh(): Run {
  const start = { v: 1, agent: 'a', task: { goal: 'g' } } as const;
  return { ...open(start, { runId: 'r', at: START }), rules: RULES_VERSION };
}

function begin(run: Run, id: string, at: number): Run {
  const now = elapse(run, START + at);
  const entry = { kind: 'execute_tool', cancelled: false, since: now.now } as const;
  return { ...now, inflight: { ...now.inflight, [id]: entry } };
}

interface End {
  readonly at: number;
  readonly workedMs: number;
}

function end(run: Run, id: string, { at, workedMs }: End): Run {
  const now = elapse(run, START + at);
  return creditWork(finish(now, id), now.inflight[id]!, workedMs);
}

const counted = ({ clock }: Run) => [clock.activeMs, clock.waitingMs];

describe('the active time of a run', () => {
  test('is what its effect worked, not how long nobody served it', () => {
    const waited = end(begin(fresh(), 'a', 0), 'a', { at: 90_000, workedMs: 2_000 });
    expect(counted(waited)).toEqual([2_000, 88_000]);
  });

  test('is never more than the time that has passed', () => {
    const run = end(begin(fresh(), 'a', 10), 'a', { at: 110, workedMs: 5_000 });
    expect(counted(run)).toEqual([100, 10]);
  });

  test('counts effects side by side once', () => {
    const both = begin(begin(fresh(), 'a', 0), 'b', 10);
    const one = end(both, 'b', { at: 60, workedMs: 50 });
    expect(counted(end(one, 'a', { at: 100, workedMs: 100 }))).toEqual([100, 0]);
    const other = end(both, 'a', { at: 60, workedMs: 60 });
    expect(counted(end(other, 'b', { at: 100, workedMs: 90 }))).toEqual([100, 0]);
  });

  test('takes back as waiting only what no effect worked', () => {
    // b ends beside a long pause of a: only their last stretches are work.
    const both = begin(begin(fresh(), 'a', 0), 'b', 0);
    const one = end(both, 'b', { at: 50, workedMs: 10 });
    expect(counted(one)).toEqual([10, 40]);
    expect(counted(end(one, 'a', { at: 100, workedMs: 20 }))).toEqual([30, 70]);
  });

  test('remembers nothing when no effect works any more', () => {
    const run = end(begin(fresh(), 'a', 0), 'a', { at: 50, workedMs: 10 });
    expect(run.clock).toEqual({ startedAt: START, activeMs: 10, waitingMs: 40 });
  });

  test('is the union of the stretches, for any effects in any order', () => {
    const effect = fc.record({
      from: fc.integer({ min: 0, max: 200 }),
      takes: fc.integer({ min: 0, max: 100 }),
      works: fc.integer({ min: 0, max: 150 }),
    });
    fc.assert(
      fc.property(fc.array(effect, { maxLength: 8 }), (effects) => {
        const moments = effects
          .flatMap(({ from, takes, works }, index) => [
            { at: from, order: 0, apply: (run: Run) => begin(run, `e-${index}`, from) },
            {
              at: from + takes,
              order: 1,
              apply: (run: Run) => end(run, `e-${index}`, { at: from + takes, workedMs: works }),
            },
          ])
          .toSorted((one, other) => one.at - other.at || one.order - other.order);
        const run = moments.reduce((current, { apply }) => apply(current), fresh());
        const worked = new Set<number>();
        for (const { from, takes, works } of effects) {
          for (let ms = Math.max(from, from + takes - works); ms < from + takes; ms += 1)
            worked.add(ms);
        }
        expect(run.clock.activeMs).toBe(worked.size);
        expect(run.clock.activeMs + run.clock.waitingMs).toBe(run.now - START);
      }),
      { numRuns: 500 },
    );
  });
});

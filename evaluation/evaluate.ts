/**
 * Plays cases in engines and judges them.
 * Invariants: outcomes come in the order of the cases; an engine never plays more cases at once than it says;
 * every case ends, at the latest at its time limit; only a judged observation passes.
 */
import { setMaxListeners } from 'node:events';
import { agree } from './agree.js';
import { compare, type Difference } from './compare.js';
import type { CaseRun, Engine, EngineName, Observation } from './engine.js';
import type { Fixture } from './fixture.js';
import { measure, type Measure } from './metrics.js';
import { inOrder, limited, withTimeLimit } from './pool.js';
import { whyEnded, type WhyEnded } from './why-ended.js';
import type { RunResult } from '../core/state/result.js';

/** Cases waiting behind one that takes long, per case that an engine plays at once. */
const AHEAD = 4;

/** No case takes this long: its engine has lost it. */
const CASE_LIMIT_MS = 300_000;

export interface CaseOutcome {
  readonly fixture: Fixture;
  readonly engine: EngineName;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why a case was skipped. */
  readonly why?: string;
  readonly differences: readonly Difference[];
  readonly result?: RunResult;
  /** What the case adds to the metrics; absent when it did not run. */
  readonly measure?: Measure;
  readonly tookMs: number;
  /** Of a case that failed: how its run ended, and by which rule. */
  readonly whyEnded?: WhyEnded;
}

export interface EvaluateOptions {
  readonly engines: readonly Engine[];
  readonly seed: number;
  /** Aborted: no further case starts, and no further outcome comes. */
  readonly signal?: AbortSignal;
  readonly caseLimitMs?: number;
}

export async function* evaluate(
  fixtures: readonly Fixture[],
  options: EvaluateOptions,
): AsyncGenerator<CaseOutcome, void> {
  // Every case under way listens to it: many are no leak.
  if (options.signal !== undefined) setMaxListeners(0, options.signal);
  const players = options.engines.map((engine) => ({
    engine,
    play: limited(engine.concurrency, (fixture: Fixture) => played(engine, fixture, options)),
  }));
  const width = Math.max(...options.engines.map((engine) => engine.concurrency), 1);
  const judged = inOrder(fixtures, width * AHEAD, async (fixture) => {
    const runs = await Promise.all(
      players.map(async ({ engine, play }) => ({ engine, run: await play(fixture) })),
    );
    return judge(fixture, runs);
  });
  for await (const outcomes of judged) {
    if (options.signal?.aborted) return;
    yield* outcomes;
  }
}

/** An engine that throws, or that never answers, is broken; the evaluation goes on. */
async function played(
  engine: Engine,
  fixture: Fixture,
  { seed, signal, caseLimitMs = CASE_LIMIT_MS }: EvaluateOptions,
): Promise<CaseRun> {
  if (signal?.aborted) return { kind: 'broken', message: 'interrupted' };
  try {
    return await withTimeLimit(caseLimitMs, signal, (limit) =>
      engine.run(fixture, { seed, signal: limit }),
    );
  } catch (error) {
    return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
}

interface Played {
  readonly engine: Engine;
  readonly run: CaseRun;
}

function judge(fixture: Fixture, runs: readonly Played[]): readonly CaseOutcome[] {
  const [first] = observationsOf(runs);
  return runs.map(({ engine, run }) => {
    const common = { fixture, engine: engine.name, tookMs: 0 };
    switch (run.kind) {
      case 'skipped':
        return { ...common, outcome: 'skipped', why: run.why, differences: [] };
      case 'broken':
        return { ...common, outcome: 'failed', differences: [brokenEngine(run.message)] };
      case 'observed':
        return { ...common, ...judgeObserved(fixture, run.observed, first) };
    }
  });
}

function observationsOf(runs: readonly Played[]): readonly Observation[] {
  return runs.flatMap(({ run }) => (run.kind === 'observed' ? [run.observed] : []));
}

/** The first engine's observation is what every other one must agree with. */
function judgeObserved(
  fixture: Fixture,
  observed: Observation,
  first: Observation | undefined,
): Omit<CaseOutcome, 'fixture' | 'engine'> {
  const differences = [
    ...compare(fixture, observed),
    ...(first === undefined || first === observed ? [] : agree(first, observed)),
  ];
  return {
    outcome: differences.length === 0 ? 'passed' : 'failed',
    differences,
    ...(observed.result !== undefined && { result: observed.result }),
    ...(differences.length > 0 && isOfReality(fixture) && endedBy(observed)),
    measure: measure(fixture, observed),
    tookMs: observed.tookMs,
  };
}

/** About an agent of a configuration, or made of a record: the reader did not write the rules of the case. */
function isOfReality({ ownAgent, isCaptured }: Fixture): boolean {
  return ownAgent !== undefined || isCaptured === true;
}

function endedBy({ events }: Observation): Pick<CaseOutcome, 'whyEnded'> {
  const why = whyEnded(events);
  return why === undefined ? {} : { whyEnded: why };
}

function brokenEngine(message: string): Difference {
  return { path: 'engine', expected: 'the case is played', observed: message };
}

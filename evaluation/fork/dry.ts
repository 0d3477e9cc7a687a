/**
 * A fork that is played dry: a simulation that begins from a recorded run as it was after a step, with the model asked in
 * earnest. What its tools answer is in dry-work.ts.
 * Invariant: nothing is written outside of a store in memory.
 */
import { forkRun } from '../../core/loop/fork.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isOpen, type OpenRun, type Run } from '../../core/state/run.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { Provider } from '../../providers/provider.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { startSimulation, virtualClock } from '../../testing/simulation/index.js';
import { RealTime } from '../real-time.js';
import { recordedConfig, timedConfig, timedProviders, withServedTools } from './configuration.js';
import type { DryFork } from './dry-fork.js';
import { plural } from '../../pure/plural.js';
import { DryWork } from './dry-work.js';
import { forkRefused, preparedFork, type ForkPlace, type ForkTerms } from './prepare.js';
import { fillStore } from './record.js';

export interface DryTerms extends ForkTerms {
  /** By `ModelRoute.provider`; the key of the model's vendor is needed. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Of real time; default half an hour. */
  readonly limitMs?: number;
  /** Called as the fork goes on, with words that say how far it is. */
  readonly onProgress?: (words: string) => void;
}

/** A fork that takes longer has a model or a tool that does not answer. */
const LIMIT_MS = 1_800_000;

/** Errors: those of `preparedFork`, `ModelKeyMissing`, `NetworkTimeout`, and what a model says that cannot be used. */
export async function playDry(place: ForkPlace, terms: DryTerms): Promise<DryFork> {
  const store = await openMemoryStore();
  try {
    await fillStore(store, place.bundle);
    return await play(store, place, terms);
  } finally {
    await store.close();
  }
}

async function play(store: MemoryStore, place: ForkPlace, terms: DryTerms): Promise<DryFork> {
  const parent = place.fold.at(place.step).after;
  const run = await beginning(store, place, terms);
  const { changes, providers, rules } = terms;
  requireModel(run, providers);
  const time = new RealTime();
  const work = new DryWork(place, changes.config !== undefined);
  const root = await rootOf(store, run);
  const code =
    changes.config === undefined
      ? recordedConfig(run.frozen, root)
      : withServedTools(changes.config, run.frozen, root);
  const stop = new AbortController();
  const simulation = startSimulation({
    start: run.start,
    runId: run.runId,
    from: run,
    store,
    config: timedConfig(code, time),
    providers: timedProviders(providers, time),
    outside: () => time.current(),
    inRealTime: (work) => time.during(work),
    clock: virtualClock(run.now),
    signal: stop.signal,
    ...(rules === undefined && { rules: parent.rules }),
    instead: (effect) => work.instead(effect, simulation),
    onEvent: (event) => work.hear(event, simulation),
    onStep: (carrier) => terms.onProgress?.(progressOf(carrier, parent)),
  });
  // Without its end the simulation would try again for ever in a store that is closed.
  const waits = (): string => progressOf(simulation.run(), parent);
  const final = await within(simulation.finish(), terms.limitMs ?? LIMIT_MS, waits).finally(() =>
    stop.abort(),
  );
  const { money, tally, rules: followed } = simulation.run();
  const ended = final.kind === 'result' ? final.result : undefined;
  const answer = ended?.answer;
  return {
    runId: parent.runId,
    step: place.step,
    rules: followed,
    stopReason: ended?.stopReason ?? 'failed',
    ...(ended?.detail !== undefined && { detail: ended.detail }),
    ...(answer !== undefined &&
      answer !== null && { answer: await store.getText(run.tenant, answer) }),
    ...work.told(),
    costMicroUsd: money.spentMicroUsd - parent.money.spentMicroUsd,
    totalCostMicroUsd: money.spentMicroUsd,
    turns: tally.turnCount - parent.tally.turnCount,
    leftOut: changes.config === undefined ? leftOut(parent) : [],
  };
}

/** Errors: `ForkRefused`. */
async function beginning(store: MemoryStore, place: ForkPlace, terms: DryTerms): Promise<OpenRun> {
  const fork = await preparedFork(store, place, terms);
  const { frozen, run: parent } = fork;
  const { runId, taskId, now: at } = parent;
  const forked = forkRun(
    {
      ...fork,
      frozen: {
        ...frozen,
        // Nobody signs here, and no grant is used.
        settings: { ...frozen.settings, requireProof: false },
        ...(terms.changes.config === undefined && { hooks: {} }),
      },
    },
    { runId: `${runId}.fork`, taskId: `${taskId}.fork`, at, namesKeys: true },
  );
  if (!forked.ok) throw forkRefused(forked.reason);
  const run = forked.value;
  if (!isOpen(run)) throw forkRefused('The run was not open.');
  return run;
}

function requireModel(
  { frozen, modelChoice }: OpenRun,
  providers: ReadonlyMap<string, Provider>,
): void {
  const { name, provider } = modelChoice?.route ?? frozen.route;
  if (providers.has(provider)) return;
  throw new HoldfastError('ModelKeyMissing', `The model ${name} needs access to ${provider}.`, {
    hint: 'Name another model with --model, or set the key of the vendor, for example ANTHROPIC_API_KEY; `holdfast doctor` says what is missing.',
  });
}

async function rootOf(store: MemoryStore, { tenant, frozen }: OpenRun): Promise<TranscriptNode> {
  const [root] = await store.readChain(tenant, frozen.prompt.hash);
  return root!;
}

/** Without a configuration. */
function leftOut({ frozen }: Run): readonly string[] {
  if (frozen === undefined) return [];
  const hooks = [...new Set(Object.values(frozen.hooks).flat())];
  return [
    ...(hooks.length > 0
      ? [`hooks ${hooks.join(', ')}: their code is in a configuration (--config)`]
      : []),
    ...(frozen.agents === undefined ? [] : ['sub-agents: they are in a configuration (--config)']),
  ];
}

const NAMES: { readonly [kind: string]: string } = {
  call_model: 'the model',
  execute_tool: 'a tool',
  run_hooks: 'a hook',
  start_child: 'a sub-agent',
};

/** A sentence about the fork, or about a run below it. */
function progressOf({ runId, tally, inflight }: Run, parent: Run): string {
  const turns = tally.turnCount - (runId === `${parent.runId}.fork` ? parent.tally.turnCount : 0);
  const kinds = Object.values(inflight).flatMap(({ kind }) => (kind === 'timer' ? [] : [kind]));
  const waits = [...new Set(kinds)].map((kind) => NAMES[kind] ?? kind);
  return `${runId} has played ${plural(turns, 'turn')} and waits for ${waits.join(', ') || 'nothing'}.`;
}

async function within<T>(play: Promise<T>, limitMs: number, words: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new HoldfastError(
            'NetworkTimeout',
            `The fork took longer than ${Math.round(limitMs / 1_000)} s. ${words()}`,
            { hint: 'Give the fork a smaller budget, for example --budget maxTurns=5.' },
          ),
        ),
      limitMs,
    );
  });
  return Promise.race([play, late]).finally(() => clearTimeout(timer));
}

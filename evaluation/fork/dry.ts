/**
 * A fork that is played dry: a simulation that begins from a recorded run as it was after a step. The model is asked in
 * earnest, reads run, effects answer `would_execute` and are listed.
 * Invariant: no tool that has effects runs; nothing is written outside of a store in memory.
 */
import { hasEffects } from '../../core/loop/fork-beginning.js';
import { forkRun } from '../../core/loop/fork.js';
import type { ActivityEffect, ToolOutcome } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import { isOpen, type OpenRun, type Run } from '../../core/state/run.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import { parseDecision } from '../../core/messages/parse-message.js';
import type { Provider } from '../../providers/provider.js';
import { forkOutcomes } from '../../recording/fork-outcomes.js';
import { forkPlanAt, type HandedOver } from '../../recording/fork-plan.js';
import type { RunFold } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { startSimulation, virtualClock, type Simulation } from '../../testing/simulation/index.js';
import { RealTime } from '../real-time.js';
import {
  isServed,
  recordedConfig,
  timedConfig,
  timedProviders,
  withServedTools,
} from './configuration.js';
import type { DryFork, DryRead, WouldExecute } from './dry-fork.js';
import { frozenFork, type ForkChanges } from './frozen.js';
import { fillStore, RecordedReads } from './record.js';

export interface DryTerms {
  readonly changes: ForkChanges;
  /** By `ModelRoute.provider`; the key of the model's vendor is needed. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Absent: those of the parent. */
  readonly rules?: 'newest';
}

/** Of real time: a fork that takes longer has a model or a tool that does not answer. */
const LIMIT_MS = 1_800_000;

/** Errors: `StepNotFound`, `ForkRefused`, and what a configuration or a model says that cannot be used. */
export async function playDry(
  fold: RunFold,
  { bundle, step }: { readonly bundle: Bundle; readonly step: number },
  terms: DryTerms,
): Promise<DryFork> {
  const { after } = fold.at(step);
  const store = await openMemoryStore();
  try {
    await fillStore(store, bundle);
    return await new Dry({ fold, bundle, step, terms, store }).play(after);
  } finally {
    await store.close();
  }
}

interface Place {
  readonly fold: RunFold;
  readonly bundle: Bundle;
  readonly step: number;
  readonly terms: DryTerms;
  readonly store: MemoryStore;
}

class Dry {
  private readonly wouldExecute: WouldExecute[] = [];
  private readonly reads: DryRead[] = [];
  private readonly asked = new Set<string>();
  private readonly recorded: RecordedReads;
  private readonly handedOver: readonly HandedOver[];
  private readonly time = new RealTime();
  private waitsFor: DryFork['waitsFor'];
  private simulation: Simulation | undefined;

  constructor(private readonly place: Place) {
    const { fold, bundle, step } = place;
    this.recorded = new RecordedReads(fold);
    const { before, after } = forkPlanAt(fold, bundle.events, step).handedOver;
    this.handedOver = [...before, ...after];
  }

  async play(parent: Run): Promise<DryFork> {
    const { store, terms, step } = this.place;
    const run = await this.forked(parent);
    const { config } = terms.changes;
    this.requireModel(run);
    const root = await this.root(run);
    const code =
      config === undefined
        ? recordedConfig(run.frozen, root)
        : withServedTools(config, run.frozen, root);
    const simulation = (this.simulation = startSimulation({
      start: run.start,
      runId: run.runId,
      from: run,
      store,
      config: timedConfig(code, this.time),
      providers: timedProviders(terms.providers, this.time),
      outside: () => this.time.current(),
      clock: virtualClock(run.now),
      ...(terms.rules === undefined && { rules: parent.rules }),
      instead: (effect) => this.instead(effect),
      onEvent: (event) => this.hear(event),
    }));
    const final = await this.within(simulation.finish());
    const { money, tally, rules } = simulation.run();
    const ended = final.kind === 'result' ? final.result : undefined;
    const answer = ended?.answer;
    return {
      runId: parent.runId,
      step,
      rules,
      stopReason: ended?.stopReason ?? 'failed',
      ...(ended?.detail !== undefined && { detail: ended.detail }),
      ...(answer !== undefined &&
        answer !== null && { answer: await store.getText(run.tenant, answer) }),
      ...(this.waitsFor !== undefined && { waitsFor: this.waitsFor }),
      wouldExecute: this.wouldExecute,
      reads: this.reads,
      costMicroUsd: money.spentMicroUsd - parent.money.spentMicroUsd,
      totalCostMicroUsd: money.spentMicroUsd,
      turns: tally.turnCount - parent.tally.turnCount,
      leftOut: this.leftOut(parent),
    };
  }

  private async forked(parent: Run): Promise<OpenRun> {
    const { fold, bundle, step, store, terms } = this.place;
    const { changes, rules } = terms;
    if (!isOpen(parent))
      throw forkRefused('The run had not been opened at this step; name a later one.');
    const { frozen, head } = await frozenFork(store, bundle, { run: parent, changes });
    const results = Object.entries(changes.results ?? {});
    const forked = forkRun(
      {
        run: parent,
        step,
        outcomes: forkOutcomes(fold, step),
        frozen: {
          ...frozen,
          // Nobody signs here, and no grant is used.
          settings: { ...frozen.settings, requireProof: false },
          ...(changes.config === undefined && { hooks: {} }),
        },
        ...(head !== undefined && { head }),
        ...(changes.message !== undefined && { message: changes.message }),
        ...(results.length > 0 && {
          results: Object.fromEntries(
            await Promise.all(
              results.map(
                async ([id, text]) => [id, await store.putText(parent.tenant, text)] as const,
              ),
            ),
          ),
        }),
        ...(rules === undefined && { keepsRules: true }),
      },
      { runId: `${parent.runId}.fork`, taskId: `${parent.taskId}.fork`, at: parent.now },
    );
    if (!forked.ok) throw forkRefused(forked.reason);
    // A chosen model takes the place of one that people had chosen.
    const { modelChoice: _, ...run } = forked.value;
    return (changes.route === undefined ? forked.value : run) as OpenRun;
  }

  private requireModel({ frozen, modelChoice }: OpenRun): void {
    const { name, provider } = modelChoice?.route ?? frozen.route;
    if (this.place.terms.providers.has(provider)) return;
    throw new HoldfastError('ModelKeyMissing', `The model ${name} needs access to ${provider}.`, {
      hint: 'Name another model with --model, or set the key of the vendor, for example ANTHROPIC_API_KEY; `holdfast doctor` says what is missing.',
    });
  }

  private async root({ tenant, frozen }: OpenRun): Promise<TranscriptNode> {
    const [root] = await this.place.store.readChain(tenant, frozen.prompt.hash);
    return root!;
  }

  private instead(effect: ActivityEffect): Promise<object> | undefined {
    if (effect.kind === 'reconcile_tool')
      return Promise.resolve({ finding: UNKNOWN, eventsUpTo: 0 });
    if (effect.kind !== 'execute_tool') return undefined;
    const { call } = effect.input;
    const run = this.simulation!.members.get(effect.input.run.runId)?.process.carrier();
    if (run === undefined || hasEffects(run, call.tool))
      return this.answer(effect, this.note(call));
    const { config } = this.place.terms.changes;
    const record = run.frozen?.tools.find(({ name }) => name === call.tool);
    if (config !== undefined && !(record !== undefined && isServed(record))) {
      this.reads.push({ tool: call.tool, callId: call.callId, from: 'configuration' });
      return undefined;
    }
    const { outcome, isRecorded } = this.recorded.answerTo(call);
    const from = isRecorded ? 'record' : 'not_recorded';
    this.reads.push({ tool: call.tool, callId: call.callId, from });
    return this.answer(effect, outcome);
  }

  /** Events of the payload reach nobody: this store is nobody's. */
  private answer(
    { input }: Extract<ActivityEffect, { kind: 'execute_tool' }>,
    outcome: ToolOutcome,
  ) {
    const eventsUpTo = input.events.at(-1)?.stamp.seq ?? -1;
    return Promise.resolve({ outcome, attempts: 1, eventsUpTo });
  }

  private note({ tool, callId, args, digest }: Call): ToolOutcome {
    const earlier = this.handedOver.find((one) => one.tool === tool && one.digest === digest);
    this.wouldExecute.push({
      tool,
      callId,
      args,
      digest,
      asks: this.asked.has(callId),
      ...(earlier !== undefined && { repeats: { step: earlier.step, callId: earlier.callId } }),
    });
    return { kind: 'ok', content: { text: WOULD_EXECUTE } };
  }

  /** Approvals are taken as given, because nothing happens; anything else only a person can answer. */
  private hear(event: RunEvent): void {
    if (event.type !== 'approval_requested' && event.type !== 'input_request') return;
    const { runId } = event.stamp;
    if (event.type === 'approval_requested' && event.kind === 'approval') {
      if (event.callId !== undefined) this.asked.add(event.callId);
      for (let n = 1; n <= event.quorum; n += 1) this.approve(event, n);
      return;
    }
    const { kind, tool, question } = event;
    this.waitsFor ??= {
      kind,
      ...(tool !== undefined && { tool }),
      ...(question !== undefined && { question }),
    };
    this.simulation!.send({ type: 'cancel_requested' }, runId);
    this.simulation!.send({ type: 'cancel_requested' });
  }

  private approve(event: Extract<RunEvent, { type: 'approval_requested' }>, n: number): void {
    const { askId, argsHash, roles, stamp } = event;
    const decision = { v: 1, askId, argsHash, decision: 'approve', by: `dry-fork-${n}`, roles };
    const parsed = parseDecision({ ...decision, decidedAt: stamp.at });
    if (parsed.ok) this.simulation!.send({ type: 'decision', decision: parsed.value }, stamp.runId);
  }

  private leftOut({ frozen }: Run): readonly string[] {
    if (this.place.terms.changes.config !== undefined || frozen === undefined) return [];
    const hooks = [...new Set(Object.values(frozen.hooks).flat())];
    return [
      ...(hooks.length > 0
        ? [`hooks ${hooks.join(', ')}: their code is in a configuration (--config)`]
        : []),
      ...(frozen.agents === undefined
        ? []
        : ['sub-agents: they are in a configuration (--config)']),
    ];
  }

  private async within<T>(play: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new HoldfastError('NetworkTimeout', 'The fork took longer than half an hour.', {
              hint: 'Give it a smaller budget, for example --budget maxTurns=5.',
            }),
          ),
        LIMIT_MS,
      );
    });
    return Promise.race([play, late]).finally(() => clearTimeout(timer));
  }
}

type Call = Extract<ActivityEffect, { kind: 'execute_tool' }>['input']['call'];

const UNKNOWN = { kind: 'unknown', message: 'a dry fork looks at no ledger' } as const;

const WOULD_EXECUTE =
  'would_execute: this is a dry fork, nothing was done. Go on as if the call had succeeded.';

function forkRefused(reason: string): HoldfastError {
  return new HoldfastError('ForkRefused', reason, {
    hint: '`holdfast inspect FILE|RUN` lists the steps; `holdfast fork … --plan` shows what a fork would begin with.',
  });
}

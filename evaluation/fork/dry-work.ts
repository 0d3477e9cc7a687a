/**
 * What tools and people answer in a dry fork: reads run by the code of a configuration or answer from the record, effects
 * answer `would_execute` and are listed, approvals are taken as given.
 * Invariant: no tool that has effects runs.
 */
import { digestOf } from '../../core/json/json.js';
import { hasEffects } from '../../core/loop/fork-beginning.js';
import { parseDecision } from '../../core/messages/parse-message.js';
import type { ActivityEffect, ExecuteToolOutput, ToolOutcome } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import { forkPlanAt, type HandedOver } from '../../recording/fork-plan.js';
import type { Simulation } from '../../testing/simulation/index.js';
import { isServed } from './configuration.js';
import type { DryFork, DryRead, WouldExecute } from './dry-fork.js';
import type { ForkPlace } from './prepare.js';
import { RecordedReads } from './record.js';

type Execution = Extract<ActivityEffect, { kind: 'execute_tool' }>;
type Call = Execution['input']['call'];

const UNKNOWN = { kind: 'unknown', message: 'a dry fork looks at no ledger' } as const;

const WOULD_EXECUTE =
  'would_execute: this is a dry fork, nothing was done. Go on as if the call had succeeded.';

export class DryWork {
  private readonly wouldExecute: WouldExecute[] = [];
  private readonly reads: DryRead[] = [];
  private readonly asked = new Set<string>();
  private readonly recorded: RecordedReads;
  private readonly handedOver: readonly HandedOver[];
  private waitsFor: DryFork['waitsFor'];

  constructor(
    { fold, bundle, step }: ForkPlace,
    private readonly hasCode: boolean,
  ) {
    this.recorded = new RecordedReads(fold);
    const { before, after } = forkPlanAt(fold, bundle.events, step).handedOver;
    this.handedOver = [...before, ...after];
  }

  told(): Pick<DryFork, 'waitsFor' | 'wouldExecute' | 'reads'> {
    const { waitsFor, wouldExecute, reads } = this;
    return { ...(waitsFor !== undefined && { waitsFor }), wouldExecute, reads };
  }

  /** The answer of an activity that is not performed; undefined: it is. */
  instead(effect: ActivityEffect, { members }: Simulation): Promise<object> | undefined {
    if (effect.kind === 'reconcile_tool')
      return Promise.resolve({ finding: UNKNOWN, eventsUpTo: 0 });
    if (effect.kind !== 'execute_tool') return undefined;
    const { call } = effect.input;
    const run = members.get(effect.input.run.runId)?.process.carrier();
    if (run === undefined || hasEffects(run, call.tool)) return answer(effect, this.note(call));
    const record = run.frozen?.tools.find(({ name }) => name === call.tool);
    if (this.hasCode && !(record !== undefined && isServed(record))) {
      this.reads.push({ tool: call.tool, callId: call.callId, from: 'configuration' });
      return undefined;
    }
    const { outcome, isRecorded } = this.recorded.answerTo(call);
    const from = isRecorded ? 'record' : 'not_recorded';
    this.reads.push({ tool: call.tool, callId: call.callId, from });
    return answer(effect, outcome);
  }

  /** Approvals are taken as given, because nothing happens; anything else only a person can answer. */
  hear(event: RunEvent, simulation: Simulation): void {
    if (event.type !== 'approval_requested' && event.type !== 'input_request') return;
    const { runId } = event.stamp;
    if (event.type === 'approval_requested' && event.kind === 'approval') {
      if (event.callId !== undefined) this.asked.add(event.callId);
      for (let n = 1; n <= event.quorum; n += 1) approve(simulation, event, n);
      return;
    }
    const { kind, tool, question } = event;
    this.waitsFor ??= {
      kind,
      ...(tool !== undefined && { tool }),
      ...(question !== undefined && { question }),
    };
    simulation.send({ type: 'cancel_requested' }, runId);
    simulation.send({ type: 'cancel_requested' });
  }

  private note({ tool, callId, args, digest }: Call): ToolOutcome {
    const plainDigest = digestOf(args);
    const earlier = this.handedOver.find(
      (one) => one.tool === tool && one.plainDigest === plainDigest,
    );
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
}

/** Events of the payload reach nobody: this store is nobody's. */
function answer({ input }: Execution, outcome: ToolOutcome): Promise<ExecuteToolOutput> {
  const eventsUpTo = input.events.at(-1)?.stamp.seq ?? -1;
  return Promise.resolve({ outcome, attempts: 1, durationMs: 0, eventsUpTo });
}

function approve(
  simulation: Simulation,
  event: Extract<RunEvent, { type: 'approval_requested' }>,
  n: number,
): void {
  const { askId, argsHash, roles, stamp } = event;
  const decision = { v: 1, askId, argsHash, decision: 'approve', by: `dry-fork-${n}`, roles };
  const parsed = parseDecision({ ...decision, decidedAt: stamp.at });
  if (parsed.ok) simulation.send({ type: 'decision', decision: parsed.value }, stamp.runId);
}

/**
 * What a fork of a recorded run would begin with after a step, and which calls with effects the record has handed over:
 * the fork would do each of them once more only after a person has agreed.
 * Invariant: pure; nothing is played.
 */
import { digestOf } from '../core/json/json.js';
import { forkBeginning, hasEffects, type ForkBeginning } from '../core/loop/fork-beginning.js';
import type { Call } from '../core/state/call.js';
import type { RunEvent } from '../core/state/event.js';
import { foldOf, type RecordedRun, type RunFold } from './fold.js';

/** A call of a tool with effects, as it was given to an executor. */
export interface HandedOver {
  readonly step: number;
  readonly tool: string;
  readonly callId: string;
  /** Of tool, version and arguments. */
  readonly digest: string;
  /** Of the arguments alone: a call of any version of the tool with the same one asks first. */
  readonly plainDigest: string;
}

export interface ForkPlan extends ForkBeginning {
  readonly step: number;
  /** Spent until then, in micro-USD: the fork's budget goes on from there. */
  readonly spentMicroUsd: number;
  /** Rules number that the fork follows. */
  readonly rules: number;
  /** Where the record cannot be followed: calls from there to the end of the segment are not among `handedOver`. */
  readonly divergences: RunFold['divergences'];
  readonly handedOver: {
    readonly before: readonly HandedOver[];
    readonly after: readonly HandedOver[];
  };
}

/** `events`: those of the whole record. Errors: `StepNotFound`. */
export function forkPlanAt(fold: RunFold, events: readonly RunEvent[], step: number): ForkPlan {
  const { after, events: told } = fold.at(step);
  const later = events.filter(({ stamp }) => stamp.seq >= told[1]);
  const all = handedOverIn(fold);
  return {
    step,
    spentMicroUsd: after.money.spentMicroUsd,
    rules: after.rules,
    ...forkBeginning(after, (call) => isKnown(call, later)),
    divergences: fold.divergences,
    handedOver: {
      before: all.filter((one) => one.step <= step),
      after: all.filter((one) => one.step > step),
    },
  };
}

/** A call that ended so may have had an effect or not. */
const DOUBTFUL: readonly unknown[] = ['outcome_unknown', 'interrupted_mid_execution', 'timeout'];

/** Ids of calls are unique within a reply: the first that ends is the one at hand. */
function isKnown({ id }: Call, later: readonly RunEvent[]): boolean {
  const ended = later.find((event) => event.type === 'tool_finished' && event.callId === id);
  return ended?.type === 'tool_finished' && ended.started && !DOUBTFUL.includes(ended.code);
}

function handedOverIn(fold: RunFold): readonly HandedOver[] {
  return fold.steps
    .filter(({ effects }) => effects.some(({ kind }) => kind === 'execute_tool'))
    .flatMap(({ step }) => {
      const { after, started } = fold.at(step);
      return started.flatMap((effect): readonly HandedOver[] => {
        if (effect.kind !== 'execute_tool') return [];
        const { tool, callId, digest, args } = effect.input.call;
        const plainDigest = digestOf(args);
        return hasEffects(after, tool) ? [{ step, tool, callId, digest, plainDigest }] : [];
      });
    });
}

export interface HandedOverBelow extends HandedOver {
  /** Whose call it was. */
  readonly runId: string;
}

/** Of a tree: what each of its runs gave to executors. A goal itself gives nothing. */
export function handedOverBelow(runs: readonly RecordedRun[]): readonly HandedOverBelow[] {
  return runs.flatMap((run) => {
    const fold = foldOf(run);
    if (fold.kind === 'goal') return [];
    return handedOverIn(fold).map((one) => ({ ...one, runId: run.run.runId }));
  });
}

/**
 * What a fork of a recorded run would begin with after a step, and which calls with effects the record has handed over:
 * the fork would do each of them once more only after a person has agreed.
 * Invariant: pure; nothing is played.
 */
import { digestOf } from '../core/json/json.js';
import { settle } from '../core/call/after-return.js';
import { forkRefusal } from '../core/loop/fork.js';
import { returned } from '../core/loop/fork-calls.js';
import {
  forkBeginning,
  hasEffects,
  isBetweenAttempts,
  type ForkBeginning,
  type WorkInFlight,
} from '../core/loop/fork-beginning.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Call, ReturnedStage } from '../core/state/call.js';
import type { RunEvent } from '../core/state/event.js';
import type { Input } from '../core/state/input.js';
import type { OpenRun, Run } from '../core/state/run.js';
import { attemptKeyOf } from '../core/step/open-work.js';
import { outcomeReader, type OutcomeReader } from './fork-outcomes.js';
import { foldOf, noSuchStep, type RecordedRun, type RunFold } from './fold.js';
import type { FoldEnd } from './index-reader.js';
import type { Moment } from './steps.js';

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

/** `events`: those of the whole record. Errors: `StepNotFound`, `ForkRefused`. */
export function forkPlanAt(fold: RunFold, events: readonly RunEvent[], step: number): ForkPlan {
  const planner = forkPlanner(step);
  for (const event of events) planner.event(event);
  for (const { step: one, effects } of fold.steps) {
    if (one === step || effects.some(isExecution)) planner.moment(fold.at(one));
  }
  return planner.plan({ steps: fold.steps.length, divergences: fold.divergences });
}

/** Plans a fork of a record whose events and steps come one by one. */
export interface ForkPlanner {
  event(event: RunEvent): void;
  moment(moment: RunMoment): void;
  /** Errors: `StepNotFound`, `ForkRefused`. */
  plan(end: Pick<FoldEnd, 'steps' | 'divergences'>): ForkPlan;
  /** Whether a call of this tool asks first: not one that the run knows as a read. */
  asks(tool: string): boolean;
}

type RunMoment = Pick<
  Moment<Run, Input>,
  'step' | 'before' | 'after' | 'given' | 'events' | 'started'
>;

export function forkPlanner(step: number): ForkPlanner {
  const ended: CallEnd[] = [];
  const handedOver: HandedOver[] = [];
  let place: RunMoment | undefined;
  let later: OutcomeReader | undefined;
  return {
    event(event) {
      if (event.type !== 'tool_finished') return;
      const { callId, started, code } = event;
      ended.push({ seq: event.stamp.seq, callId, isKnown: started && !DOUBTFUL.includes(code) });
    },
    moment(moment) {
      if (moment.step === step) {
        place = moment;
        later = outcomeReader(moment.after);
      } else later?.moment(moment);
      handedOver.push(...handedOverIn(moment));
    },
    plan({ steps, divergences }) {
      if (place === undefined) throw noSuchStep(step, steps);
      const { after, events } = place;
      const reason = forkRefusal(after);
      if (reason !== undefined) {
        throw new HoldfastError('ForkRefused', reason, { hint: 'Choose another step.' });
      }
      const ends = ended.filter(({ seq }) => seq >= events[1]);
      // Ids of calls are unique within a reply: the first that ends is the one at hand.
      const isKnown = (call: Call): boolean => {
        const fact = later?.found.get(call.id);
        return fact === undefined
          ? ends.find(({ callId }) => callId === call.id)?.isKnown === true
          : !isAsked(after as OpenRun, returned(after as OpenRun, call, fact));
      };
      const { inFlight, ...beginning } = forkBeginning(after, isKnown);
      return {
        step,
        spentMicroUsd: after.money.spentMicroUsd,
        rules: after.rules,
        ...beginning,
        inFlight: [...inFlight, ...lostCalls(after as OpenRun, isKnown)],
        divergences,
        handedOver: {
          before: handedOver.filter((one) => one.step <= step),
          after: handedOver.filter((one) => one.step > step),
        },
      };
    },
    asks: (tool) => place === undefined || hasEffects(place.after, tool),
  };
}

/**
 * Calls that a fork asks about although nothing of them was in flight: between two attempts, or back without a word of what
 * became of them. Each is named by the key of its newest attempt, as the question does.
 */
function lostCalls(run: OpenRun, isKnown: (call: Call) => boolean): readonly WorkInFlight[] {
  return (run.turn?.calls ?? []).flatMap((call): readonly WorkInFlight[] => {
    const { id: callId, tool } = call;
    const effectId = attemptKeyOf(run, call);
    const isBetween = isBetweenAttempts(call);
    if (!isBetween && !(call.stage === 'returned' && isAsked(run, call))) return [];
    const becomes = isBetween && isKnown(call) ? 'recorded_outcome' : 'outcome_unknown';
    return [{ effectId, kind: 'execute_tool', tool, callId, becomes }];
  });
}

/** The core itself says what it asks; by the key of a recorded run it asks people alone. */
function isAsked(run: OpenRun, call: ReturnedStage): boolean {
  const { frozen } = run;
  // The plan names what nobody knows, also where the settings let the run end or go on then.
  const settings = { ...frozen.settings, onOutcomeUnknown: 'ask' as const };
  const asking = { ...run, frozen: { ...frozen, settings } };
  const settled = settle(asking, { ...call, parentKey: attemptKeyOf(run, call) });
  const after = settled.kind === 'moved' ? settled.step.run.turn?.calls : [];
  return after?.some(({ index, stage }) => index === call.index && stage === 'doubt') === true;
}

/** A call that ended so may have had an effect or not. */
const DOUBTFUL: readonly unknown[] = ['outcome_unknown', 'interrupted_mid_execution', 'timeout'];

interface CallEnd {
  readonly seq: number;
  readonly callId: string;
  /** What it did is known. */
  readonly isKnown: boolean;
}

function isExecution({ kind }: { readonly kind: string }): boolean {
  return kind === 'execute_tool';
}

function handedOverIn({ step, after, started }: RunMoment): readonly HandedOver[] {
  return started.flatMap((effect): readonly HandedOver[] => {
    if (effect.kind !== 'execute_tool') return [];
    const { tool, callId, digest, args } = effect.input.call;
    const plainDigest = digestOf(args);
    return hasEffects(after, tool) ? [{ step, tool, callId, digest, plainDigest }] : [];
  });
}

function handedOverOf(fold: RunFold): readonly HandedOver[] {
  return fold.steps
    .filter(({ effects }) => effects.some(isExecution))
    .flatMap(({ step }) => handedOverIn(fold.at(step)));
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
    return handedOverOf(fold).map((one) => ({ ...one, runId: run.run.runId }));
  });
}

/**
 * What goes wrong between a tool and its service, at one seeded call of each run.
 * `503-once`: its first try is turned away, nothing is applied; `503-forever`: every try is;
 * `applied-then-lost`: the first try takes effect and its answer is lost.
 */
import { drawBelow, seededRandom } from '../../testing/index.js';
import type { PlayedRun } from './played-run.js';

export const TOOL_FAULTS = ['503-once', '503-forever', 'applied-then-lost'] as const;
export type ToolFault = (typeof TOOL_FAULTS)[number];

const STREAM_OFFSET = 503_000_001;
/** Tries of a call that never succeeds: the limit of executions, each asked for twice. */
export const TRIES_MAX = 10;

export interface ToolFaultPlan {
  readonly fault: ToolFault;
  readonly callId: string;
  /** It changes something, so what comes after it may differ when it never happens. */
  readonly writes: boolean;
}

/** Undefined for a run without calls. */
export function planToolFault(
  fault: ToolFault,
  seed: number,
  run: PlayedRun,
): ToolFaultPlan | undefined {
  const random = seededRandom(seed, run.index + STREAM_OFFSET);
  const all = [...run.calls.values()];
  // A recorded refusal would have changed nothing anyway.
  const writes = all.filter((call) => call.writes && !call.error && !call.outage);
  const from = writes.length > 0 && drawBelow(random, 4) > 0 ? writes : all;
  const call = from[drawBelow(random, from.length)];
  return call === undefined ? undefined : { fault, callId: call.id, writes: call.writes };
}

export interface FaultyCalls {
  readonly plan?: ToolFaultPlan;
  /** What is to become of this try of a call. */
  tried(callId: string): 'refuse' | 'lose' | undefined;
  /** How often the faulty call was tried. */
  tries(): number;
}

export const NO_FAULTY_CALLS: FaultyCalls = { tried: () => undefined, tries: () => 0 };

export function faultyCalls(plan: ToolFaultPlan): FaultyCalls {
  let tries = 0;
  return {
    plan,
    tried(callId) {
      if (callId !== plan.callId) return undefined;
      tries += 1;
      if (plan.fault === '503-forever') return 'refuse';
      if (tries > 1) return undefined;
      return plan.fault === '503-once' ? 'refuse' : 'lose';
    },
    tries: () => tries,
  };
}

/** Calls of the run whose result may be another than the recorded one. */
export function excusedCalls(run: PlayedRun, { plan }: FaultyCalls): ReadonlySet<string> {
  if (plan?.fault !== '503-forever') return new Set();
  if (!plan.writes) return new Set([plan.callId]);
  const ids = [...run.calls.keys()];
  return new Set(ids.slice(ids.indexOf(plan.callId)));
}

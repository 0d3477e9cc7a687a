/** Judges what a goal did: its cycles, reviews and checkpoints, its plan and state, and what its cycles were told. */
import type { Json } from '../../core/json/json.js';
import type { GoalMemory, LogEntry, PlanStep } from '../../core/state/goal/memory.js';
import type { RunEvent } from '../../core/state/event.js';
import type {
  WantedBrief,
  WantedCondition,
  WantedCycle,
  WantedLogEntry,
  WantedStep,
} from '../format/goal-expected.js';
import type { Count } from '../format/values.js';
import { difference, equal, isSame, NO_DIFFERENCE, type Difference } from './difference.js';
import { judgeCount } from './result.js';
import type { Seen } from './seen.js';
import { ofType } from './trail.js';

/** A judge of how many events of this type the goal told. */
export function judgeCountOf(path: string, type: RunEvent['type']) {
  return (wanted: Count, { observation }: Seen): readonly Difference[] =>
    judgeCount(path, wanted, ofType(observation.events, type).length);
}

export function judgeSlept(wanted: Count, { observation }: Seen): readonly Difference[] {
  const slept = ofType(observation.events, 'goal_woken').map(({ sleptMs }) => sleptMs);
  return judgeCount(
    'slept_ms',
    wanted,
    slept.reduce((sum, ms) => sum + ms, 0),
  );
}

export function judgeCycleResults(
  wanted: readonly WantedCycle[],
  { observation }: Seen,
): readonly Difference[] {
  const ended = ofType(observation.events, 'cycle_ended').map((event) => ({
    stop_reason: event.stopReason,
    ...(event.detail !== undefined && { detail: event.detail }),
    cost_micro_usd: event.costMicroUsd,
    progress: event.progress.length > 0,
  }));
  return inOrder('cycle_results', { wanted, observed: ended }, (one, cycle) => {
    const { cost_micro_usd, ...rest } = one;
    return isSubset(rest, cycle) && fitsCount(cost_micro_usd, cycle.cost_micro_usd);
  });
}

export function judgePlan(wanted: readonly WantedStep[], seen: Seen): readonly Difference[] {
  const steps = memoryOf(seen)?.plan.steps ?? [];
  return inOrder('plan', { wanted, observed: steps }, (one, step: PlanStep) => {
    const { evidence, ...rest } = one;
    return isSubset(rest, step) && fitsEvidence(evidence, step.evidence);
  });
}

export function judgeState(
  wanted: { readonly [path: string]: unknown },
  seen: Seen,
): readonly Difference[] {
  const state = memoryOf(seen)?.state ?? {};
  return Object.entries(wanted).flatMap(([path, value]) =>
    equal(`state.${path}`, value as Json, state[path]?.value),
  );
}

export function judgeDone(
  wanted: readonly WantedCondition[],
  { observation: { result } }: Seen,
): readonly Difference[] {
  return wanted.flatMap(({ held, evidence }, index) => {
    const path = `done[${index}]`;
    const outcome = result?.goal?.done[index];
    if (outcome === undefined) return difference(path, { held }, 'no such condition');
    return [
      ...equal(`${path}.held`, held, outcome.held),
      ...judgeCount(`${path}.evidence`, evidence, outcome.evidence.length),
    ];
  });
}

export function judgeBriefs(
  wanted: readonly WantedBrief[],
  { observation }: Seen,
): readonly Difference[] {
  const briefs = observation.goal?.briefs ?? [];
  return wanted.flatMap(({ contains = [], notContains = [], maxChars }, index) => {
    const path = `briefs[${index}]`;
    const brief = briefs[index];
    if (brief === undefined) return difference(path, 'a cycle', `only ${briefs.length} cycles`);
    return [
      ...contains.flatMap((piece) =>
        brief.includes(piece) ? [] : difference(`${path}.contains`, piece, brief),
      ),
      ...notContains.flatMap((piece) =>
        brief.includes(piece) ? difference(`${path}.notContains`, piece, brief) : [],
      ),
      ...(maxChars === undefined || brief.length <= maxChars
        ? []
        : difference(`${path}.maxChars`, maxChars, brief.length)),
    ];
  });
}

/** The agents of all cycles, in order; of a run those that it was handed over to. */
export function judgeAgents(
  wanted: readonly string[],
  { observation }: Seen,
): readonly Difference[] {
  const cycles = ofType(observation.events, 'cycle_started').map(({ agent }) => agent);
  const handed = ofType(observation.events, 'handoff').flatMap(({ to, run }) =>
    run === undefined ? [] : [to],
  );
  const agents = [...cycles, ...handed];
  return equal('agents', wanted, agents);
}

export function judgeLog(wanted: readonly WantedLogEntry[], seen: Seen): readonly Difference[] {
  const log = memoryOf(seen)?.log ?? [];
  return inOrder('progress_log', { wanted, observed: log }, (one, entry: LogEntry) => {
    const { evidence, text = '', ...rest } = one;
    return (
      isSubset(rest, entry) && entry.text.includes(text) && fitsEvidence(evidence, entry.evidence)
    );
  });
}

/** What the case itself says of its cycles. */
export function judgeWorkers({ fixture, observation }: Seen): readonly Difference[] {
  const { goal } = fixture;
  if (goal === undefined) return NO_DIFFERENCE;
  return ofType(observation.events, 'cycle_started').flatMap(({ n, agent }) => {
    const wanted = goal.cycles[Math.min(n, goal.cycles.length) - 1]?.agent;
    return wanted === undefined ? [] : equal(`cycles[${n - 1}].agent`, wanted, agent);
  });
}

function memoryOf({ observation }: Seen): GoalMemory | undefined {
  return observation.goal?.memory;
}

/** Each wanted entry fits a seen one, in this order, with anything in between. */
function inOrder<Wanted, One>(
  path: string,
  { wanted, observed }: { readonly wanted: readonly Wanted[]; readonly observed: readonly One[] },
  fits: (wanted: Wanted, one: One) => boolean,
): readonly Difference[] {
  let from = 0;
  for (const [index, entry] of wanted.entries()) {
    const match = observed.findIndex((one, place) => place >= from && fits(entry, one));
    if (match < 0) {
      return difference(`${path}[${index}]`, entry as Json, observed.slice(from) as Json);
    }
    from = match + 1;
  }
  return NO_DIFFERENCE;
}

function isSubset(wanted: object, observed: object): boolean {
  return Object.entries(wanted).every(([key, value]) =>
    isSame(value as Json, (observed as { readonly [key: string]: Json })[key]),
  );
}

function fitsCount(wanted: Count | undefined, observed: number): boolean {
  return judgeCount('', wanted, observed).length === 0;
}

/** Their number, or ids that must be among them. */
function fitsEvidence(
  wanted: Count | readonly string[] | undefined,
  observed: readonly string[] = [],
): boolean {
  if (!Array.isArray(wanted)) return fitsCount(wanted as Count | undefined, observed.length);
  return wanted.every((id: string) => observed.includes(id));
}

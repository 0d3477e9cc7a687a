/**
 * Compares what was expected of a case with what was seen of it.
 * Invariant: every key of `expected` has exactly one judge; the invariants are judged in every case.
 */
import { NO_DIFFERENCE, difference, type Difference } from './compare/difference.js';
import {
  judgeAttempts,
  judgeEffects,
  judgeExecuted,
  judgeForbiddenTools,
  judgeMaxInFlight,
  judgeMaxToolCalls,
  judgeResultOrder,
  judgeResults,
} from './compare/calls.js';
import { judgeServed } from './compare/served.js';
import { judgeApprovals } from './compare/approvals.js';
import { judgeEvents, judgeTransitions, judgeWarnings } from './compare/events.js';
import {
  judgeAgents,
  judgeBriefs,
  judgeCountOf,
  judgeCycleResults,
  judgeDone,
  judgeLog,
  judgePlan,
  judgeSlept,
  judgeState,
  judgeWorkers,
} from './compare/goal.js';
import { judgeInvariants } from './compare/invariants.js';
import { judgeOverlap } from './compare/overlap.js';
import { judgeHistory, judgePersisted, judgeRequests, judgeSessions } from './compare/requests.js';
import {
  field,
  judgeAnswer,
  judgeCounters,
  judgeNextSafeAction,
  judgePhase,
  judgeStartError,
  judgeStopReason,
  partialOutputOf,
} from './compare/result.js';
import { seen, type Seen } from './compare/seen.js';
import { judgeTrace } from './compare/trace.js';
import { trailOf } from './compare/trail.js';
import type { Observation, SeenRun } from './engine.js';
import type { Expected, Fixture } from './fixture.js';
import { placeOfRun } from './run-tree.js';

export type { Difference };

type Wanted = Required<Expected>;
type Judges = {
  readonly [Key in keyof Wanted]: (wanted: Wanted[Key], seen: Seen) => readonly Difference[];
};

/** In the order in which a person wants to hear of them: how it ended, what was done, what was said. */
const JUDGES: Judges = {
  start_error: judgeStartError,
  stop_reason: judgeStopReason,
  // A dialect says how to read stop_reason.
  dialect: () => NO_DIFFERENCE,
  detail: field('detail', (result) => result.detail),
  phase: judgePhase,
  status: field('status', (result) => result.status),
  completed: field('completed', (result) => result.completed),
  answer: judgeAnswer,
  output: field('output', (result) => result.output),
  partial_output: field('partial_output', partialOutputOf),
  budget_overrun: field('budget_overrun', (result) => result.budgetOverrun ?? false),
  next_safe_action: judgeNextSafeAction,
  cost_micro_usd: field('cost_micro_usd', (result) => result.costMicroUsd),
  executed: judgeExecuted,
  effects: judgeEffects,
  attempts: judgeAttempts,
  forbidden_tools: judgeForbiddenTools,
  max_tool_calls: judgeMaxToolCalls,
  approvals: judgeApprovals,
  served: judgeServed,
  results: judgeResults,
  result_order: judgeResultOrder,
  max_in_flight: judgeMaxInFlight,
  overlap: judgeOverlap,
  counters: judgeCounters,
  history: judgeHistory,
  model_requests: judgeRequests,
  transitions: judgeTransitions,
  events: judgeEvents,
  requires_trace_events: judgeTrace('requires_trace_events'),
  trace_includes: judgeTrace('trace_includes'),
  warnings: judgeWarnings,
  persisted: judgePersisted,
  sessions: judgeSessions,
  runs: judgeRuns,
  cycles: judgeCountOf('cycles', 'cycle_started'),
  reviews: judgeCountOf('reviews', 'goal_review'),
  checkpoints: judgeCountOf('checkpoints', 'checkpoint_saved'),
  checks: judgeCountOf('checks', 'check_finished'),
  cycle_results: judgeCycleResults,
  plan: judgePlan,
  state: judgeState,
  done: judgeDone,
  briefs: judgeBriefs,
  agents: judgeAgents,
  slept_ms: judgeSlept,
  progress_log: judgeLog,
};

/** Empty when everything is as expected. */
export function compare(fixture: Fixture, observation: Observation): readonly Difference[] {
  const context = seen(fixture, observation);
  const all = Object.keys(JUDGES) as (keyof Wanted)[];
  // Of a record the first step that differs is wanted, and what followed from it after that.
  const keys = fixture.isCaptured === true ? [...new Set(['results' as const, ...all])] : all;
  return [
    ...endViolations(fixture, observation),
    ...keys.flatMap((key) => judged(key, context)),
    ...judgeWorkers(context),
    ...judgeInvariants(fixture, observation),
  ];
}

/** What the other runs of the case did, as the same words say it of the run itself. */
function judgeRuns(wanted: Wanted['runs'], { fixture, observation }: Seen): readonly Difference[] {
  const { others = [] } = observation;
  return Object.entries(wanted).flatMap(([written, expected]) => {
    const run = runNamed(others, written);
    const path = `runs.${written}`;
    if (run === undefined)
      return difference(
        path,
        'a run',
        others.map(({ name }) => name),
      );
    const { events, requests } = run;
    const last = events.at(-1);
    const result = last?.type === 'run_result' ? { result: last.result } : {};
    const { result: _, ...own } = observation;
    const context: Seen = {
      fixture: { ...fixture, expected },
      // Results are those that the model of this run was shown.
      observation: { ...own, ...result, events, requests, transcript: [] },
      trail: trailOf(events),
    };
    const keys = Object.keys(expected) as (keyof Wanted)[];
    return keys.flatMap((key) =>
      judged(key, context).map((one) => ({ ...one, path: `${path}.${one.path}` })),
    );
  });
}

function runNamed(others: readonly SeenRun[], written: string): SeenRun | undefined {
  const [name, n = '1'] = written.split('#');
  const placed = others.find(({ runId }) => placeOfRun(runId) === written);
  if (placed !== undefined) return placed;
  return others.filter((run) => run.name === name)[Number(n) - 1];
}

function judged<Key extends keyof Wanted>(key: Key, context: Seen): readonly Difference[] {
  const wanted = context.fixture.expected as Wanted;
  return Object.hasOwn(wanted, key) ? JUDGES[key](wanted[key], context) : NO_DIFFERENCE;
}

/** A case ends with a result, unless its start is expected to be refused. */
function endViolations(fixture: Fixture, { result, startError }: Observation) {
  if (result !== undefined || fixture.expected.start_error !== undefined) return NO_DIFFERENCE;
  return startError === undefined
    ? difference('result', 'the run ends', 'it has no result')
    : difference('start_error', 'the run starts', `${startError.code}: ${startError.message}`);
}

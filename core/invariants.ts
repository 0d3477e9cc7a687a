/**
 * What must hold of every run, whatever happens to it (design §14). Pure and incremental: a shell feeds
 * each event once, in order, and each step with the run that it came from; both answer with violations
 * in words, none when all is well.
 */
import { canonicalJson } from './digest.js';
import type { ActivityEffect } from './effect.js';
import type { EventBody, RunEvent } from './event.js';
import type { Step } from './inflight.js';
import { ENDING_PREDICATES, NEW_WORK, started, type StepPredicate } from './invariants-ending.js';
import { HOOK_PREDICATES } from './invariants-hooks.js';
import { PARALLEL_PREDICATES, pathIsNew } from './invariants-parallel.js';
import type { Json } from './json.js';
import { committedMicroUsd } from './money/budget.js';
import { BATCH_BYTES_MAX, EVENTS_PER_BATCH } from './outbox.js';
import type { Counters } from './result.js';
import { isOpen, type Run } from './run.js';

/** What the events so far have said of one call of the newest reply. */
interface CallTrack {
  readonly id: string;
  /** undefined again after a correction: what was allowed is no longer what would run. */
  readonly permission: 'allow' | 'deny' | 'ask' | 'sandbox' | undefined;
  readonly approved: boolean;
  /** The hook that denied it. */
  readonly deniedBy?: string;
  /** The exact action that people were asked about, or that they want instead, as canonical JSON. */
  readonly action?: string;
  /** A person has answered the call's question. */
  readonly answered: boolean;
  readonly started: boolean;
  readonly finished: boolean;
}

export interface InvariantState {
  readonly nextSeq: number;
  /** Calls of the newest reply in proposal order, until their results message. */
  readonly calls: readonly CallTrack[];
  readonly proposed: number;
  /** An event named only the first calls of its reply: ids that nothing has named may follow. */
  readonly partlyShown: boolean;
  /** The newest message that was declared gone. */
  readonly tombstoned?: string;
  readonly fallbacks: number;
  readonly stop?: Extract<EventBody, { type: 'stop' }>;
  readonly ended: boolean;
  /** Paths of the state that results have become. */
  readonly paths: readonly string[];
}

export function startChecking(): InvariantState {
  return {
    nextSeq: 0,
    calls: [],
    proposed: 0,
    partlyShown: false,
    fallbacks: 0,
    ended: false,
    paths: [],
  };
}

type EventPredicate = (state: InvariantState, event: RunEvent) => string | undefined;

const EVENT_PREDICATES: readonly EventPredicate[] = [
  seqHasNoGap,
  sessionInitIsFirst,
  runResultIsLast,
  stopIsUnique,
  repliesFollowResults,
  startsArePermitted,
  stopHooksJudgeAnswers,
  callsEndOnce,
  pathsAreWrittenOnce,
  resultsKeepTheOrder,
  goneStaysGone,
  stopLeavesNoCallOpen,
  resultIsConsistent,
];

/** Judges one event and takes it in. */
export function checkEvent(
  state: InvariantState,
  event: RunEvent,
): { readonly state: InvariantState; readonly violations: readonly string[] } {
  const violations = EVENT_PREDICATES.flatMap((predicate) => {
    const violation = predicate(state, event);
    return violation === undefined ? [] : [`event ${event.stamp.seq} ${event.type}: ${violation}`];
  });
  return { state: taken(state, event), violations };
}

/** Events of a reply name at most this many calls. */
const CALLS_SHOWN_MAX = 32;

function taken(state: InvariantState, event: RunEvent): InvariantState {
  const next = { ...state, nextSeq: event.stamp.seq + 1 };
  switch (event.type) {
    case 'model_response':
      return {
        ...next,
        calls: event.calls.map(({ id }) => ({
          id,
          permission: undefined,
          approved: false,
          answered: false,
          started: false,
          finished: false,
        })),
        proposed: state.proposed + event.calls.length,
        partlyShown: state.partlyShown || event.calls.length >= CALLS_SHOWN_MAX,
      };
    case 'hook':
      return event.name === 'PreToolUse' && (event.outcome === 'deny' || event.outcome === 'error')
        ? withTrack(next, event.callId, { deniedBy: event.hook })
        : next;
    case 'permission':
      return withTrack(next, event.callId, { permission: event.decision, approved: false });
    case 'approval_requested':
      return withTrack(next, event.callId, { action: actionOf(event) });
    case 'approval_resolved':
      return withTrack(next, event.callId, resolved(event));
    case 'input_provided':
      return withTrack(next, event.callId, { answered: event.outcome === 'answered' });
    case 'tool_started':
      return withTrack(next, event.callId, { started: true });
    case 'tool_finished':
      return withTrack(
        event.path === undefined ? next : { ...next, paths: [...next.paths, event.path] },
        event.callId,
        { finished: true },
      );
    case 'tool_results_message':
      return { ...next, calls: [] };
    case 'tombstone':
      return { ...next, tombstoned: event.targetMessageId };
    case 'transition':
      return { ...next, fallbacks: state.fallbacks + Number(event.reason === 'model_fallback') };
    case 'stop':
      return { ...next, stop: event };
    case 'run_result':
      return { ...next, ended: true };
    default:
      return next;
  }
}

function resolved(event: Extract<EventBody, { type: 'approval_resolved' }>): Partial<CallTrack> {
  const { outcome, corrected } = event;
  if (corrected === undefined) return { approved: outcome === 'approved' };
  return { permission: undefined, approved: false, action: actionOf(corrected) };
}

function actionOf(about: { readonly tool?: string; readonly args?: Json }): string {
  return canonicalJson({ tool: about.tool ?? null, args: about.args ?? null });
}

function withTrack(
  state: InvariantState,
  id: string | undefined,
  change: Partial<CallTrack>,
): InvariantState {
  const calls = state.calls.map((call) => (call.id === id ? { ...call, ...change } : call));
  return { ...state, calls };
}

function seqHasNoGap(state: InvariantState, event: RunEvent): string | undefined {
  return event.stamp.seq === state.nextSeq ? undefined : `expected seq ${state.nextSeq}`;
}

function sessionInitIsFirst(_state: InvariantState, event: RunEvent): string | undefined {
  const first = event.stamp.seq === 0;
  return first === (event.type === 'session_init')
    ? undefined
    : 'session_init is first, only first';
}

function runResultIsLast(state: InvariantState, event: RunEvent): string | undefined {
  if (state.ended) return 'nothing follows run_result';
  if (event.type !== 'run_result' || state.stop !== undefined) return undefined;
  return 'run_result without a stop';
}

function stopIsUnique(state: InvariantState, event: RunEvent): string | undefined {
  if (state.stop === undefined) return undefined;
  if (event.type === 'stop') return 'a second stop';
  const starts = ['tool_started', 'model_response', 'approval_requested', 'input_request', 'hook'];
  return starts.includes(event.type) ? 'nothing starts after stop' : undefined;
}

function repliesFollowResults(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'model_response' || state.calls.length === 0) return undefined;
  return `a reply before the results of ${state.calls.map((call) => call.id).join(', ')}`;
}

function startsArePermitted(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_started') return undefined;
  const call = state.calls.find((one) => one.id === event.callId);
  if (call === undefined) return state.partlyShown ? undefined : `nobody proposed ${event.callId}`;
  if (call.finished) return `${call.id} has its result already`;
  if (call.deniedBy !== undefined) return `${call.id} started although ${call.deniedBy} denied it`;
  if (call.action !== undefined && call.action !== actionOf(event))
    return `${call.id} is not what people were asked about`;
  if (call.permission === 'allow' || call.permission === 'sandbox') return undefined;
  if (call.permission === 'ask' && call.approved) return undefined;
  return `${call.id} started with permission ${call.permission ?? 'none'}, not approved`;
}

function stopHooksJudgeAnswers(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'hook' || event.name !== 'Stop' || state.calls.length === 0) return undefined;
  return `a Stop hook judges a reply with the calls ${state.calls.map((call) => call.id).join(', ')}`;
}

function callsEndOnce(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_finished') return undefined;
  if (event.hosted)
    return event.started ? `${event.callId} is the vendor's and started` : undefined;
  const call = state.calls.find((one) => one.id === event.callId);
  if (call === undefined) return state.partlyShown ? undefined : `nobody proposed ${event.callId}`;
  if (call.finished) return `a second result of ${call.id}`;
  if (event.started !== call.started) return `${call.id} says started: ${event.started}`;
  return event.status === 'ok' && !call.started && !call.answered
    ? `${call.id} is ok and never started`
    : undefined;
}

function pathsAreWrittenOnce(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_finished' || event.path === undefined) return undefined;
  return event.status === 'ok'
    ? pathIsNew(state.paths, event.path)
    : `${event.callId} did not succeed and wrote ${event.path}`;
}

function resultsKeepTheOrder(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'tool_results_message') return undefined;
  const open = state.calls.filter((call) => !call.finished).map((call) => call.id);
  if (open.length > 0) return `no result of ${open.join(', ')}`;
  const proposed = state.calls.map((call) => call.id);
  const shown = state.partlyShown ? event.callIds.slice(0, proposed.length) : event.callIds;
  return shown.join() === proposed.join() ? undefined : `${shown.join()} for ${proposed.join()}`;
}

function goneStaysGone(state: InvariantState, event: RunEvent): string | undefined {
  const names = event.type === 'model_response' || event.type === 'user_message';
  return names && event.messageId === state.tombstoned
    ? `${event.messageId} was declared gone`
    : undefined;
}

function stopLeavesNoCallOpen(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'stop' || state.calls.length === 0) return undefined;
  return `no results message for ${state.calls.map((call) => call.id).join(', ')}`;
}

function resultIsConsistent(state: InvariantState, event: RunEvent): string | undefined {
  if (event.type !== 'run_result') return undefined;
  const { result } = event;
  const { counters } = result;
  if (result.completed !== (result.stopReason === 'completed'))
    return 'completed is not the reason';
  if (result.stopReason !== state.stop?.reason)
    return `stop said ${state.stop?.reason ?? 'nothing'}`;
  if (result.trace.events !== event.stamp.seq + 1) return `${result.trace.events} events in trace`;
  if (!state.partlyShown && counters.proposedCalls !== state.proposed)
    return `${counters.proposedCalls} proposed calls, the replies had ${state.proposed}`;
  if (counters.fallbacks !== state.fallbacks)
    return `${counters.fallbacks} fallbacks counted, ${state.fallbacks} told`;
  return countersAddUp(counters);
}

function countersAddUp(counters: Counters): string | undefined {
  const { toolCalls, deniedCalls, invalidCalls, skippedCalls, inputRequests, notStartedCalls } =
    counters;
  const sum =
    toolCalls + deniedCalls + invalidCalls + skippedCalls + inputRequests + notStartedCalls;
  return sum === counters.proposedCalls
    ? undefined
    : `the counters give ${sum} calls, ${counters.proposedCalls} were proposed`;
}

const STEP_PREDICATES: readonly StepPredicate[] = [
  modelCallsFitTheMoney,
  toolCallsFitTheCap,
  grantsNameTheirCall,
  theGuardIsKept,
  nothingStartsAfterStop,
  ...ENDING_PREDICATES,
  ...HOOK_PREDICATES,
  reservationsBelongToWork,
  idsAreNew,
  batchesAreBounded,
  outboxHasNoGap,
  ...PARALLEL_PREDICATES,
  timeAddsUp,
  somethingIsAwaited,
];

/** Judges one step of `advance`: `before` is the run it was given. */
export function checkStep(before: Run, step: Step): readonly string[] {
  return STEP_PREDICATES.flatMap((predicate) => {
    const violation = predicate(before, step);
    return violation === undefined ? [] : [`step: ${violation}`];
  });
}

const ASKS_A_MODEL: readonly ActivityEffect['kind'][] = ['call_model', 'compact'];

function modelCallsFitTheMoney(_before: Run, step: Step): string | undefined {
  const { run } = step;
  if (!isOpen(run) || !started(step).some((effect) => ASKS_A_MODEL.includes(effect.kind)))
    return undefined;
  const limit = run.frozen.budget.maxCostMicroUsd;
  const committed = committedMicroUsd(run);
  if (run.money.overrun) return 'a model call after an overrun';
  return limit === 'unlimited' || committed <= limit
    ? undefined
    : `${committed} micro-USD spent and reserved, the limit is ${limit}`;
}

function toolCallsFitTheCap(_before: Run, step: Step): string | undefined {
  const { run } = step;
  if (!isOpen(run) || !started(step).some((effect) => effect.kind === 'execute_tool'))
    return undefined;
  const limit = run.frozen.budget.maxToolCalls;
  return limit === 'unlimited' || run.tally.toolCalls <= limit
    ? undefined
    : `${run.tally.toolCalls} tool calls, the limit is ${limit}`;
}

function grantsNameTheirCall(_before: Run, step: Step): string | undefined {
  const wrong = started(step).find(
    (effect) =>
      effect.kind === 'execute_tool' && effect.input.grant.digest !== effect.input.call.digest,
  );
  return wrong === undefined ? undefined : `the grant of ${wrong.id} is for another call`;
}

/** A run that compacts and fails must not do so in a circle (C20). */
function theGuardIsKept(before: Run, step: Step): string | undefined {
  const { run } = step;
  const [was, is] = [before, run].map((one) => one.compactions?.reactiveAttempts ?? 0) as [
    number,
    number,
  ];
  const limit = run.frozen?.budget.maxReactiveCompactions ?? 0;
  if (is < was) return `${was} reactive compactions became ${is}`;
  return is > was && is > limit ? `${is} reactive compactions, the limit is ${limit}` : undefined;
}

function nothingStartsAfterStop(before: Run, step: Step): string | undefined {
  // Of calls side by side one may start before another, in the same step, stops the run.
  const serial = step.run.frozen?.settings.toolExecution === 'serial';
  const stopped = before.stopping !== undefined || (serial && step.run.stopping !== undefined);
  const late = stopped && started(step).find((effect) => NEW_WORK.includes(effect.kind));
  return late ? `${late.id} starts although the run stops` : undefined;
}

function reservationsBelongToWork(_before: Run, step: Step): string | undefined {
  const { money, inflight } = step.run;
  const orphan = Object.keys(money.reserved).find(
    (id) => inflight[id] === undefined && id !== step.run.unheard,
  );
  return orphan === undefined
    ? undefined
    : `money is reserved for ${orphan}, which is not in flight`;
}

function idsAreNew(before: Run, step: Step): string | undefined {
  const ids = step.effects.flatMap((effect) => ('id' in effect ? [effect.id] : []));
  const again = ids.find((id, index) => ids.indexOf(id) !== index || id in before.inflight);
  return again === undefined ? undefined : `${again} is not new`;
}

function batchesAreBounded(_before: Run, step: Step): string | undefined {
  const carriers = started(step).filter((effect) => effect.input.events.length > 0);
  if (carriers.length > 1) return 'two effects carry events';
  for (const { id, input } of carriers) {
    const bytes = JSON.stringify(input.events).length;
    const tooLarge = input.events.length > 1 && bytes > BATCH_BYTES_MAX + EVENTS_PER_BATCH;
    if (tooLarge || input.events.length > EVENTS_PER_BATCH) return `${id} carries ${bytes} bytes`;
    if (step.run.outbox.carrier !== id) return `${id} carries events and is not the carrier`;
  }
  return undefined;
}

function outboxHasNoGap(_before: Run, step: Step): string | undefined {
  const { events, nextSeq } = step.run.outbox;
  const first = nextSeq - events.length;
  const wrong = events.find((event, index) => event.stamp.seq !== first + index);
  return wrong === undefined ? undefined : `event ${wrong.stamp.seq} is out of order in the outbox`;
}

function timeAddsUp(_before: Run, step: Step): string | undefined {
  const { now, clock } = step.run;
  const counted = clock.activeMs + clock.waitingMs;
  return counted === now - clock.startedAt
    ? undefined
    : `${counted} ms are counted, ${now - clock.startedAt} have passed`;
}

/** A run at rest waits for something that it has started, else nothing would ever wake it. */
function somethingIsAwaited(_before: Run, step: Step): string | undefined {
  const { run } = step;
  return run.final === undefined && Object.keys(run.inflight).length === 0
    ? 'the run rests and nothing is in flight'
    : undefined;
}

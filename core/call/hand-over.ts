/**
 * A granted call of the tool `handoff` of an agent that says to whom it hands over (G66). Nothing is executed: the call
 * gets its result, and the run goes on under the other agent once the turn is over (loop/handoff.ts).
 * Invariants: a run has at most one handoff under way, and at most HANDOFFS_MAX in all; calls of the same turn that have not
 * begun never begin.
 */
import { closeAsk } from '../ask/open-ask.js';
import { ownValue, type Json } from '../json/json.js';
import type { Call } from '../state/call.js';
import { HANDOFFS_MAX, HANDOFF_TOOL, type HandoffTarget } from '../state/handoff.js';
import type { OpenRun, Step } from '../state/run.js';
import { follows } from '../step/changes.js';
import { only } from '../step/inflight.js';
import { refusalOf } from './refusal.js';
import { keyOf, refuse, type StationResult } from '../step/open-work.js';
import { openAskOf, NOT_BEGUN } from './not-begun.js';
import { settleCall } from './result.js';

/** The call is of the tool by which this agent hands over; any other of kind 'handoff' asks for a person. */
export function isHandOver(run: OpenRun, { tool }: Pick<Call, 'tool'>): boolean {
  return tool === HANDOFF_TOOL && run.frozen.handoffTo !== undefined && follows(run, 'handoffs');
}

/** Why the run cannot be handed over so; undefined: it can. */
export function handOverRefusal(run: OpenRun, call: Call): StationResult | undefined {
  if (!isHandOver(run, call)) return undefined;
  const target = targetOf(run, call.args);
  if (target === undefined) {
    const known = (run.frozen.handoffTo ?? []).map(({ agent }) => agent).join(', ');
    return refuse('invalid_arguments', `This agent hands over to ${known} only.`);
  }
  const kept = target.run === 'new' ? whyKept(run) : undefined;
  if (kept !== undefined) return refuse('tool_not_allowed', kept);
  if (handoffsOf(run) < HANDOFFS_MAX) return undefined;
  const message = `This run was handed over ${HANDOFFS_MAX} times, which is the most. Finish the task, or say why you cannot.`;
  return refuse('limit_exceeded', message);
}

/** Of the task, over all runs that had it. */
function handoffsOf({ handoffs = 0, frozen }: OpenRun): number {
  return handoffs + (frozen.handedFrom?.handoffs ?? 0);
}

/** Run ids have at most 128 characters; that of the other run is this one's with a number. */
const RUN_ID_CHARS_MAX = 120;

/** Why the task of this run cannot go to another run. */
function whyKept(run: OpenRun): string | undefined {
  if (!follows(run, 'handedRuns')) return 'Runs of these rules start no run for a handoff.';
  const { parent } = run.start;
  // Its parent waits for its result, and pays for it.
  if (parent !== undefined && parent.kind !== 'handoff')
    return 'Another run or a goal waits for this task: finish the task here, or say why you cannot.';
  return run.runId.length > RUN_ID_CHARS_MAX
    ? 'The id of this run is too long for one that hands its task to another run.'
    : undefined;
}

function targetOf({ frozen }: OpenRun, args: Json): HandoffTarget | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const to = ownValue(args as { readonly [key: string]: Json }, 'to');
  return frozen.handoffTo?.find(({ agent }) => agent === to);
}

export function handOver(run: OpenRun, call: Call): StationResult {
  const refused = handOverRefusal(run, call);
  const target = targetOf(run, call.args);
  if (refused !== undefined || target === undefined)
    return refused ?? refuse('invalid_arguments', 'The handoff names no agent.');
  const settled = settleCall(run, call, {
    callId: call.id,
    status: 'skipped',
    isError: false,
    content: { text: wordsOf(target) },
    synthetic: true,
    started: false,
    durationMs: 0,
    attempts: 0,
    idempotencyKey: keyOf(run, call),
  });
  const n = (run.handoffs ?? 0) + 1;
  const handoff = {
    n,
    callId: call.id,
    from: run.frozen.agent.name,
    to: target.agent,
    filter: target.filter,
    args: call.args,
    ...(target.run === 'new' && {
      starts: { child: `${run.runId}:h1`, n: 1, stage: 'due' as const },
    }),
  };
  return { kind: 'moved', step: only({ ...settled, handoffs: n, handoff }) };
}

function wordsOf({ agent, run }: HandoffTarget): string {
  return run === 'new'
    ? `The agent ${agent} takes this task over in a run of its own.`
    : `The agent ${agent} goes on with this task.`;
}

/** The agent has given the task away: what it has not begun is not its own any more. */
export function leaveToNext(run: OpenRun, call: Call): Step<OpenRun> | undefined {
  const { handoff } = run;
  if (handoff === undefined || !NOT_BEGUN.includes(call.stage)) return undefined;
  const askId = openAskOf(run, call);
  const closed =
    askId === undefined
      ? only(run)
      : closeAsk(run, askId, { outcome: 'withdrawn', reason: 'the run is handed over' });
  const message = `Not executed: the task was handed over to ${handoff.to}.`;
  const refusal = refusalOf(closed.run, call, { code: 'not_executed', message });
  return { run: settleCall(closed.run, call, refusal), effects: closed.effects };
}

/**
 * A run that is stopped hands nothing over: what is being started is waited for, and told to stop. 'hold' while it is
 * waited for; undefined: there is nothing to take back.
 */
export function takeBack(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  const { starts } = run.handoff ?? {};
  if (starts?.stage === 'starting') return 'hold';
  // 'checking': whose run has the id was never found out, and a stranger's is told nothing.
  if (starts?.stage !== 'started' || run.stopping === undefined) return undefined;
  const { handoff: _, ...rest } = run;
  return { run: rest, effects: [{ kind: 'tell_child', child: starts.child, message: 'cancel' }] };
}

/** Builds the result of a run, its counters and the view that queries get. */
import type { Ask } from '../state/ask.js';
import { grantViews, takesGrant } from '../permission/grants.js';
import { askById, outcomeOf, pendingAsks, viewOf } from '../step/open-work.js';
import { AWAITING } from './awaiting.js';
import { follows } from '../step/changes.js';
import { isWaiting } from '../step/clock.js';
import { compactionsOf } from '../context/compaction.js';
import { isOverrun } from '../money/budget.js';
import type { CloseRunOutput } from '../state/effect.js';
import type { Counters, RunResult } from '../state/result.js';
import { currentRoute, versionsOf } from '../step/route.js';
import { sessionOutcome } from '../session/carry.js';
import { isOpen, type Run, type Stopping } from '../state/run.js';
import { nextSafeActionOf, statusOfStop } from '../step/stop.js';
import type { OpenAsk, Question, RunView, RunViewStatus } from '../state/view.js';

export function resultOf(run: Run, stopping: Stopping): RunResult {
  const { reason, detail, phase, pendingApproval } = stopping;
  const completed = reason === 'completed';
  const next = nextSafeActionOf(run, stopping);
  return {
    runId: run.runId,
    status: statusOfStop(reason),
    stopReason: reason,
    ...(detail !== undefined && { detail }),
    ...(phase !== undefined && { phase }),
    completed,
    ...saidOf(run, completed),
    ...(pendingApproval !== undefined && { pendingApproval }),
    ...(next !== undefined && { nextSafeAction: next }),
    ...(run.handedTo !== undefined && { handedTo: run.handedTo }),
    usage: run.tally.usage,
    costMicroUsd: run.money.spentMicroUsd,
    ...(isOpen(run) && isOverrun(run) && { budgetOverrun: true }),
    counters: countersOf(run),
    versions: versionsOf(run),
    // `run_result` itself is the last event.
    trace: { runId: run.runId, traceId: run.traceId, events: run.outbox.nextSeq + 1 },
  };
}

/** Only a completed run has an answer; of any other the result shows what it said last. */
function saidOf(
  run: Run,
  completed: boolean,
): Pick<RunResult, 'answer' | 'output' | 'partialOutput'> {
  const { lastAnswer, lastOutput, partialOutput } = run;
  if (!completed) {
    const said = partialOutput ?? lastAnswer;
    return said === undefined ? {} : { partialOutput: said };
  }
  return {
    ...(lastAnswer !== undefined && { answer: lastAnswer }),
    ...(lastOutput !== undefined && { output: lastOutput }),
    ...(partialOutput !== undefined && { partialOutput }),
  };
}

/** What the run returns: what its `run_result` said, and what arrived too late to be in it (G98). */
export function finalResult(run: Run, result: RunResult): RunResult {
  return {
    ...result,
    ...(run.hookReports !== undefined && { hooks: run.hookReports }),
    ...(run.unprocessed.length > 0 && { unprocessed: run.unprocessed }),
  };
}

/** What its closing says of the record of a run. */
export function closedWith(
  { start }: Run,
  { transcript, sealed }: CloseRunOutput,
): Pick<Stopping, 'transcript' | 'sealed'> {
  return {
    ...(transcript !== undefined && { transcript }),
    ...(sealed && start.parent?.hears && { sealed }),
  };
}

/** The same when the run has been closed: its session has been stored, or not. */
export function closedResult(run: Run, result: RunResult): RunResult {
  const session = sessionOutcome(run);
  const { transcript, sealed } = run.stopping ?? {};
  return {
    ...finalResult(run, result),
    ...(session !== undefined && { session }),
    ...(transcript !== undefined && { transcript }),
    ...(sealed && { sealed }),
  };
}

export function countersOf(run: Run): Counters {
  const { proactive, reactive } = compactionsOf(run);
  const {
    emptyRetries: _,
    pauseResumes: __,
    evidenceRejections: ___,
    criteriaRejections: ____,
    outputRetries: _____,
    ...tally
  } = run.tally;
  return {
    ...tally,
    compactions: { proactive, reactive },
    costMicroUsd: run.money.spentMicroUsd,
    activeMs: run.clock.activeMs,
    waitingMs: run.clock.waitingMs,
  };
}

/** Status as the outside sees it: what the run waits for, or 'running'. */
export function statusOf(run: Run): RunViewStatus {
  const { stopping } = run;
  if (stopping !== undefined && (stopping.result !== undefined || isStoppedByPerson(run)))
    return statusOfStop(stopping.reason);
  if (!isWaiting(run)) return 'running';
  const kinds = pendingAsks(run).map((ask) => ask.kind);
  return AWAITING.find(([kind]) => kinds.includes(kind))?.[1] ?? 'running';
}

/** Their stop is shown at once; its record may have to wait for the store. */
export function isStoppedByPerson(run: Run): boolean {
  const { reason } = run.stopping ?? {};
  return (reason === 'interrupted' || reason === 'aborted') && follows(run, 'stopShown');
}

/** A run that has not been opened still has the whole goal. */
const GOAL_CHARS_MAX = 4_096;

export function viewOfRun(run: Run): RunView {
  const grants = grantViews(run);
  return {
    runId: run.runId,
    tenant: run.tenant,
    agent: run.start.agent,
    ...(run.handoffs !== undefined && isOpen(run) && { actingAgent: run.frozen.agent.name }),
    taskId: run.taskId,
    goal: run.start.task.goal.slice(0, GOAL_CHARS_MAX),
    startedAt: run.clock.startedAt,
    ...(run.store !== undefined && { store: run.store.id }),
    ...(isOpen(run) && {
      sessionId: run.session?.id ?? run.runId,
      model: currentRoute(run).name,
      permissionMode: run.permissionMode ?? run.frozen.settings.permissionMode,
      head: run.head ?? run.frozen.prompt.hash,
    }),
    opened: run.frozen !== undefined,
    status: viewStatusOf(run),
    ...(run.final?.kind === 'refused' && {
      refused: { code: run.final.code, message: run.final.message },
    }),
    ...(run.stopping !== undefined && { stop: stopView(run.stopping) }),
    phase: run.phase,
    ...(run.transition !== undefined && { transition: run.transition }),
    segment: run.segment.number,
    counters: countersOf(run),
    ...(run.frozen !== undefined && { budget: run.frozen.budget }),
    reservedMicroUsd: Object.values(run.money.reserved).reduce((sum, amount) => sum + amount, 0),
    asks: openAsksOf(run),
    ...(grants.length > 0 && { grants }),
    inFlight: Object.entries(run.inflight).map(([id, entry]) => ({ id, kind: entry.kind })),
    queuedMessages: run.queue.length,
    events: run.outbox.nextSeq,
    ...(run.final?.kind === 'result' && { result: run.final.result }),
  };
}

function viewStatusOf(run: Run): RunViewStatus {
  if (run.final?.kind === 'refused') return 'failed';
  return run.stopping !== undefined && run.final === undefined ? 'closing' : statusOf(run);
}

function stopView({ reason, detail }: Stopping): NonNullable<RunView['stop']> {
  return { reason, status: statusOfStop(reason), ...(detail !== undefined && { detail }) };
}

/** What the queries tell of the questions that are open. */
export function openAsksOf(run: Run): readonly OpenAsk[] {
  return pendingAsks(run).map((ask) => openView(run, ask));
}

/** What the queries tell of one question, open or closed; null: this run has not asked it. */
export function questionOf(run: Run, askId: string): Question | null {
  const ask = askById(run, askId);
  if (ask !== undefined) return { outcome: outcomeOf(ask), ask: viewOf(ask) };
  const closed = run.closedAsks.find(({ id }) => id === askId);
  return closed === undefined ? null : { outcome: closed.outcome };
}

function openView(run: Run, ask: Ask): OpenAsk {
  const held = (ask.correction?.held ?? []).map(({ vote }) => vote);
  const votes = [...ask.votes, ...held].map(({ by, decision, decidedAt }) => ({
    by,
    decision,
    decidedAt,
  }));
  return { ...viewOf(ask), votes, ...(takesGrant(run, ask) && { takesGrant: true }) };
}

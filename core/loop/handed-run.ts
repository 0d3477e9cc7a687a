/**
 * The way of a task from a run to another run, which is started for it: this one then ends `completed`, detail
 * `handed_off` (G66). The call was granted (call/hand-over.ts); here its turn is over.
 * Invariants: the row of the other run is in the store before it is started; it gets what is left of each budget, and this
 * run spends nothing after that; a run that a person stops meanwhile takes back what it has started.
 */
import { ownValue, type Json } from '../json/json.js';
import { childStarted } from '../call/child-facts.js';
import { trip } from '../money/budget.js';
import type { Budget, Limit } from '../state/budget-fields.js';
import { refOf, type ActivityEffect, type Effect } from '../state/effect.js';
import type { PrepareHandoffOutput } from '../state/payloads/child-payloads.js';
import type { Failure } from '../state/failure.js';
import type { HandedRun, Handoff } from '../state/handoff.js';
import type { OpenRun, Step } from '../state/run.js';
import type { StartInput } from '../state/task.js';
import type { Ruling } from '../step/advance.js';
import { countedMs, left, storeWork } from '../step/clock.js';
import { flying, nextId, start, STORE_LIMITS, WORK } from '../step/inflight.js';
import { emit } from '../step/outbox.js';
import { stop } from '../step/stop.js';
import { storeSome } from '../turn/store-messages.js';
import { startShows } from '../step/showing.js';

/** Numbers that turn out to be taken, by earlier runs of this one or by strangers. */
const TAKEN_MAX = 20;

interface Starting extends Handoff {
  readonly starts: HandedRun;
}

/** One step towards the other run; 'hold' while something must come back first. */
export function startHandedRun(run: OpenRun, handoff: Starting): Ruling<OpenRun> {
  const { starts } = handoff;
  if (starts.stage === 'started') return handedOff(run, handoff);
  // A person's pause is over when they have said something.
  if (run.paused !== undefined) return undefined;
  if (flying(run, [...WORK, 'flush', 'start_child'])) return 'hold';
  if (starts.stage === 'prepared') return begin(run, handoff);
  if (starts.stage === 'checking') return prepare(run, handoff);
  if (run.pending.length > 0) return storeSome(run);
  // What is used up is asked about, or ends the run: the other one would have nothing.
  return trip(run, 'between_turns') === undefined ? prepare(run, handoff) : undefined;
}

function withStarts(run: OpenRun, starts: HandedRun): OpenRun {
  return run.handoff === undefined ? run : { ...run, handoff: { ...run.handoff, starts } };
}

function prepare(run: OpenRun, { starts, ...handoff }: Starting): Step<OpenRun> {
  const { child, n, stage } = starts;
  const { callId, from, to, filter, args } = handoff;
  const { outputSchema, handedFrom } = run.frozen;
  const effectId = nextId(run, 'prepare_handoff');
  const preparing = withStarts(run, { child, n, stage: 'preparing', effectId });
  return start(preparing, 'prepare_handoff', (id, events): ActivityEffect => ({
    kind: 'prepare_handoff',
    id,
    input: {
      v: 1,
      run: refOf(run),
      child,
      n,
      handoff: { callId, from, to, filter, args },
      handoffs: handoff.n + (handedFrom?.handoffs ?? 0),
      head: run.head ?? run.frozen.prompt.hash,
      start: startOf(run),
      ...(outputSchema !== undefined && { outputSchema }),
      ...(stage === 'checking' && { existed: true }),
      events,
    },
    limits: storeWork(run, STORE_LIMITS),
    summary: `hand over to ${to}`,
  }));
}

/** As the run was started, but for what was about its own agent; with what is left of its budgets. */
function startOf(run: OpenRun): StartInput {
  const { model: _, agents: __, session: ___, parent: ____, fork: _____, ...own } = run.start;
  const { turnCounting, timeoutCounts, requireProof } = run.frozen.settings;
  const { taskId: ______, ...task } = own.task;
  return {
    ...own,
    task,
    budget: budgetLeft(run),
    settings: {
      ...own.settings,
      turnCounting,
      timeoutCounts,
      ...(requireProof && { requireProof }),
      ...(run.permissionMode === 'plan' && { permissionMode: 'plan' }),
    },
  };
}

/** Of what one run of the task may still do; limits of single requests are those of whoever asks. */
function budgetLeft(run: OpenRun): Partial<Budget> {
  const { maxTokensPerResponse: _, compactionThreshold: __, ...budget } = run.frozen.budget;
  const { tally } = run;
  const { input, cacheRead, cacheWrite, output } = tally.usage;
  const turns = run.frozen.settings.turnCounting === 'logical' ? tally.turnCount : tally.modelCalls;
  const less = (limit: Limit, used: number): Limit =>
    limit === 'unlimited' ? limit : Math.max(0, Math.floor(left(used, limit)));
  return {
    ...budget,
    maxTurns: less(budget.maxTurns, turns),
    maxModelCalls: less(budget.maxModelCalls, tally.modelCalls),
    maxToolCalls: less(budget.maxToolCalls, tally.toolCalls),
    timeoutMs: less(budget.timeoutMs, countedMs(run)),
    maxCostMicroUsd: less(budget.maxCostMicroUsd, run.money.spentMicroUsd),
    maxInputTokens: less(budget.maxInputTokens, input + cacheRead + cacheWrite),
    maxOutputTokens: less(budget.maxOutputTokens, output),
  };
}

function begin(run: OpenRun, { starts }: Starting): Step<OpenRun> | 'hold' {
  const { child, input } = starts;
  if (input === undefined) return 'hold';
  const id = nextId(run, 'start_child');
  const inflight = { ...run.inflight, [id]: { kind: 'start_child' as const, cancelled: false } };
  const starting = withStarts(run, { ...starts, stage: 'starting', effectId: id });
  return {
    run: { ...starting, inflight, nextEffect: run.nextEffect + 1 },
    effects: [{ kind: 'start_child', id, child, input, ...startShows(run, input) }],
  };
}

/** It is there: what the user has said meanwhile is told to it, and this run ends. */
function handedOff(run: OpenRun, { starts, ...handoff }: Starting): Step<OpenRun> {
  const { child, input } = starts;
  const { n, callId, from, to, filter, args } = handoff;
  const most = input?.budget?.maxCostMicroUsd;
  const told = emit(run, {
    type: 'handoff',
    to,
    by: from,
    because: summaryOf(args),
    started: {
      runId: child,
      n,
      callId,
      filter,
      ...(typeof most === 'number' && { maxCostMicroUsd: most }),
    },
  });
  const { handoff: _, ...rest } = told;
  const effects = run.queue.flatMap(({ text, from: sender }, index): readonly Effect[] =>
    sender === undefined
      ? [{ kind: 'tell_child', child, message: 'say', text, id: `${run.runId}:h${n}m${index}` }]
      : [],
  );
  const queue = run.queue.filter(({ from: sender }) => sender !== undefined);
  const ended: OpenRun = { ...rest, queue, handedTo: { runId: child, agent: to } };
  return { run: stop(ended, 'completed', { detail: 'handed_off' }), effects };
}

/** Fact: its row is written, or its number is taken. */
export function handedRunPrepared(
  run: OpenRun,
  effectId: string,
  output: PrepareHandoffOutput,
): OpenRun {
  const starts = startsOf(run, effectId);
  if (starts === undefined) return run;
  const { child, n } = starts;
  const { start: input, begun, taken } = output;
  if (taken !== undefined) return withNextNumber(run, starts, taken.costMicroUsd);
  if (input === undefined) return failed(run, { message: `${child} has no start.` });
  return withStarts(run, { child, n, stage: begun ? 'started' : 'prepared', input });
}

function withNextNumber(run: OpenRun, { n }: HandedRun, costMicroUsd: number): OpenRun {
  const spentMicroUsd = run.money.spentMicroUsd + costMicroUsd;
  const paid = { ...run, money: { ...run.money, spentMicroUsd } };
  if (n >= TAKEN_MAX)
    return failed(paid, { message: `${n} run ids for the handoff were in use already.` });
  return withStarts(paid, { child: `${run.runId}:h${n + 1}`, n: n + 1, stage: 'due' });
}

/** Fact: nothing is known of its row. Cancelled for a pause or the end of time, it is due as before. */
export function handedRunNotPrepared(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const starts = startsOf(run, effectId);
  if (starts === undefined) return run;
  const { child, n } = starts;
  return failure.cancelled ? withStarts(run, { child, n, stage: 'due' }) : failed(run, failure);
}

/** Fact: a sub-agent, or the run that has the task, is there, or whose run has its id must be looked at. */
export function otherRunStarted(run: OpenRun, effectId: string, existed: boolean): OpenRun {
  const starts = startsOf(run, effectId);
  if (starts === undefined) return childStarted(run, effectId, existed);
  const { effectId: _, ...rest } = starts;
  return withStarts(run, { ...rest, stage: existed ? 'checking' : 'started' });
}

function startsOf({ handoff }: OpenRun, effectId: string): HandedRun | undefined {
  return handoff?.starts?.effectId === effectId ? handoff.starts : undefined;
}

function failed(run: OpenRun, { message, ...failure }: Partial<Failure>): OpenRun {
  const { handoff } = run;
  if (handoff === undefined) return run;
  const { starts: _, ...rest } = handoff;
  const known = { code: 'Internal' as const, attempts: 1, ...failure, message: message ?? '' };
  return { ...run, handoff: { ...rest, failed: known } };
}

const BECAUSE_CHARS = 500;

/** The beginning; a long one lies in the store, and in the message. */
export function summaryOf(args: Json): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return '';
  const summary = ownValue(args as { readonly [key: string]: Json }, 'summary');
  return typeof summary === 'string' ? summary.slice(0, BECAUSE_CHARS) : '';
}

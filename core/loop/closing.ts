/**
 * The way out of a run that stops.
 * Invariants:
 *  E1 Every call gets its result before `stop` is emitted (G79), every ask is withdrawn, every timer gone.
 *  E2 `stop`, then `run_result`, each exactly once; nothing starts after them but the SessionEnd hooks,
 *     exactly once, and what stores the run.
 *  E3 Late inputs are named in the result (G98).
 */
import { follows } from '../step/changes.js';
import { storeWork } from '../step/clock.js';
import { tellRefusal } from '../ask/told.js';
import { dropWaiting } from '../ask/await-keys.js';
import { withdrawAsks } from '../ask/open-ask.js';
import type { Call, CallFact } from '../state/call.js';
import { refusalOf } from '../call/refusal.js';
import { endChildren } from '../call/children.js';
import { settleCall, unknownResult } from '../call/result.js';
import { toolOf } from '../permission/permission.js';
import { refOf, type ActivityEffect } from '../state/effect.js';
import { awaitBackground } from '../hooks/background.js';
import { startHooks } from '../hooks/start.js';
import {
  cancelAll,
  cancelTimer,
  flying,
  start,
  UNDER_WAY,
  flush,
  STORE_LIMITS,
} from '../step/inflight.js';
import { answerOf } from '../gates/answer.js';
import { isBlank, type StoredText } from '../json/json.js';
import type { Ruling } from '../step/advance.js';
import { emit, fitsOneBatch, warn, leanEvents } from '../step/outbox.js';
import { finalResult, resultOf } from './run-result.js';
import { sessionToSave } from '../session/carry.js';
import { UNPROCESSED_MAX, type OpenRun, type Stopping, type Step, hasHooks } from '../state/run.js';
import { isMutating } from '../state/tool.js';
import { INTERRUPTED_CODES, type ToolResult, type ToolResultCode } from '../state/tool-result.js';
import { appendTurnResults } from '../turn/reply.js';
import { storeMessages } from '../turn/store-messages.js';
import { joined } from '../turn/truncation.js';

/** One step towards the end; 'hold' while something must come back first. */
export function closing(run: OpenRun): Ruling<OpenRun> {
  const { stopping } = run;
  if (stopping === undefined) return undefined;
  if (stopping.result === undefined) return finishWork(run, stopping);
  const ending = sessionEnd(run, stopping);
  if (ending !== undefined) return ending;
  if (run.outbox.carrier !== undefined) return 'hold';
  if (!fitsOneBatch(run)) return flush(run);
  if (flying(run, ['close_run'])) return 'hold';
  return storeMessages(run) ?? startClosing(run, stopping);
}

const BESIDE_HOOKS = UNDER_WAY.filter((kind) => kind !== 'run_hooks');

/** What is under way comes to its end; then the run says that it stops. */
function finishWork(run: OpenRun, stopping: Stopping): Step<OpenRun> | 'hold' {
  const cancelled = cancelAll(run, cancelledBy(stopping));
  if (cancelled.effects.length > 0) return cancelled;
  const children = endChildren(run, stopping.reason === 'aborted' ? 'cancel' : 'interrupt');
  if (children !== undefined) return children;
  if (flying(run, BESIDE_HOOKS)) return 'hold';
  const waiting = awaitBackground(run);
  if (waiting !== undefined) return waiting;
  return flying(run, ['run_hooks']) ? 'hold' : announce(run, stopping);
}

/** The SessionEnd hooks, once, after `run_result` and before the run is stored; what they do wrong is noted. */
function sessionEnd(run: OpenRun, stopping: Stopping): Step<OpenRun> | 'hold' | undefined {
  if (stopping.sessionEnd === 'done' || !hasHooks(run, 'SessionEnd')) return undefined;
  if (stopping.sessionEnd === 'running') return 'hold';
  const ending: OpenRun = { ...run, stopping: { ...stopping, sessionEnd: 'running' } };
  return startHooks(ending, { point: 'SessionEnd' }, { reason: stopping.reason });
}

/** A person's stop and the end of time end what is under way; other stops let it finish. */
function cancelledBy(stopping: Stopping) {
  const abrupt = ['interrupted', 'aborted', 'timeout'].includes(stopping.reason);
  return abrupt ? UNDER_WAY : [];
}

function announce(run: OpenRun, stopping: Stopping): Step<OpenRun> {
  const withdrawn = withdrawAsks(unjudged(unread(run)), `the run stops: ${stopping.reason}`);
  const timers = Object.entries(withdrawn.run.inflight).filter(
    ([, entry]) => entry.kind === 'timer',
  );
  const untimed = timers.reduce<Step<OpenRun>>((step, [id]) => {
    const cancelled = cancelTimer(step.run, id);
    return { run: cancelled.run, effects: [...step.effects, ...cancelled.effects] };
  }, withdrawn);
  const settled = settleRest(withLastWords(untimed.run), stopping);
  const { reason, rule, detail, phase } = stopping;
  const stopped = emit(settled, {
    type: 'stop',
    reason,
    ...(rule !== undefined && { by: rule }),
    ...(detail !== undefined && { detail }),
    ...(phase !== undefined && { phase }),
  });
  const result = finalResult(stopped, resultOf(stopped, stopping));
  const told = emit(stopped, { type: 'run_result', result });
  const final: OpenRun = { ...told, stopping: { ...stopping, result } };
  return { run: final, effects: untimed.effects };
}

/** A reply that completed nothing, or that was cut off, is shown by the result as what it is. */
function withLastWords(run: OpenRun): OpenRun {
  const { turn, partialOutput } = run;
  if (turn === undefined || isBlank(turn.reply.text)) return run;
  // Beside calls a text is a remark, unless no call was on offer.
  if (turn.calls.length > 0 && run.wrapUp === undefined) return run;
  const said = follows(run, 'joinedAnswers')
    ? answerOf(turn)
    : joined(partialOutput, turn.reply.text);
  return said === undefined ? run : { ...run, partialOutput: said };
}

/** Messages that no request took are named in the result, never silently dropped (G98). */
function unread(run: OpenRun): OpenRun {
  if (run.queue.length === 0) return run;
  const told = warn(
    run,
    'messages_unread',
    `${run.queue.length} messages came too late to be read`,
  );
  const names = run.queue.map(() => 'user_message');
  return {
    ...told,
    queue: [],
    unprocessed: [...run.unprocessed, ...names].slice(0, UNPROCESSED_MAX),
  };
}

/** Decisions that waited for keys which the run is not told any more. */
function unjudged({ unjudged: waiting = [], ...run }: OpenRun): OpenRun {
  const refusal = { reason: 'unknown_key', message: 'the run stops' } as const;
  const told = waiting.reduce<OpenRun>((next, one) => tellRefusal(next, one, refusal), run);
  return run.keyWait === undefined ? told : dropWaiting(told, refusal);
}

/** Synthetic results for every call that has none, then the results message of the turn. */
export function settleRest(run: OpenRun, stopping: Stopping): OpenRun {
  const { turn } = run;
  if (turn === undefined) return run;
  const settled = turn.calls.reduce<OpenRun>(
    (next, call) =>
      call.stage === 'settled' ? next : settleCall(next, call, synthetic(next, call, stopping)),
    run,
  );
  if (settled.turn === undefined) return settled;
  const { turn: _, ...rest } = appendTurnResults(settled, settled.turn);
  return rest;
}

function synthetic(run: OpenRun, call: Call, stopping: Stopping): ToolResult {
  if (call.stage === 'doubt') return unknownResult(run, call);
  if (call.stage === 'returned') return returnedResult(run, call, stopping);
  const code = codeOf(stopping);
  return refusalOf(run, call, {
    code,
    message: TEXTS[code] ?? `Not executed: ${stopping.reason}.`,
  });
}

/** It was under way and came back without a clear answer: a mutating call may have happened (G52). */
function returnedResult(
  run: OpenRun,
  call: Extract<Call, { stage: 'returned' }>,
  stopping: Stopping,
): ToolResult {
  const { fact } = call;
  const base = unknownResult(run, call);
  if (fact.kind === 'outcome' && fact.outcome.kind === 'error') {
    const { code, message } = fact.outcome;
    const synthetic = INTERRUPTED_CODES.includes(code);
    return { ...base, code, synthetic, content: { text: message } };
  }
  const malformed = malformedBy(fact);
  if (malformed !== undefined) {
    return { ...base, code: 'malformed_result', synthetic: false, content: { text: malformed } };
  }
  const happened = knownContent(fact);
  if (happened !== undefined) {
    const { code: _, ...ok } = base;
    return { ...ok, status: 'ok', isError: false, synthetic: false, content: happened };
  }
  const tool = toolOf(run, call.tool);
  const certain = isKnownNotToHaveHappened(fact);
  if (!certain && (tool === undefined || isMutating(tool))) return base;
  const code = stopping.reason === 'timeout' ? 'timeout' : 'interrupted_mid_execution';
  return { ...base, code, content: { text: TEXTS[code] ?? code } };
}

/** It took effect, and what it gave does not fit the tool's output schema. */
function malformedBy(fact: CallFact): string | undefined {
  if (fact.kind !== 'finding' || fact.finding.kind !== 'happened') return undefined;
  return fact.finding.malformed;
}

/** What the call gave, when the fact says that it took effect. */
function knownContent(fact: CallFact): StoredText | undefined {
  if (fact.kind === 'outcome') return fact.outcome.kind === 'ok' ? fact.outcome.content : undefined;
  if (fact.kind === 'finding')
    return fact.finding.kind === 'happened' ? fact.finding.content : undefined;
  return fact.kind === 'recorded' && fact.answer === 'happened' ? fact.content : undefined;
}

function isKnownNotToHaveHappened(fact: CallFact): boolean {
  if (fact.kind === 'outcome') {
    return fact.outcome.kind === 'key_conflict' || fact.outcome.kind === 'repeats';
  }
  if (fact.kind === 'finding') return fact.finding.kind === 'not_happened';
  return fact.kind === 'recorded' && fact.answer === 'not_happened';
}

const TEXTS: { readonly [code in ToolResultCode]?: string } = {
  interrupted: 'Interrupted by user',
  interrupted_mid_execution: 'Interrupted mid-execution',
  budget_exceeded: 'Not executed: a budget of this run is used up.',
  timeout: 'The time budget of the run ended.',
};

function codeOf(stopping: Stopping): ToolResultCode {
  const { reason, phase } = stopping;
  if (reason === 'interrupted' || reason === 'aborted') {
    return phase === 'tools' ? 'interrupted_mid_execution' : 'interrupted';
  }
  const budget = reason === 'timeout' || reason.startsWith('max_');
  return budget ? 'budget_exceeded' : 'not_executed';
}

function startClosing(run: OpenRun, stopping: Stopping): Step<OpenRun> {
  const session = sessionToSave(run);
  return start(run, 'close_run', (id, events): ActivityEffect => ({
    kind: 'close_run',
    id,
    input: {
      v: 1,
      run: refOf(run),
      head: run.head,
      append: run.pending,
      ...(session !== undefined && { session }),
      events: leanEvents(events, run.pending),
    },
    limits: storeWork(run, STORE_LIMITS),
    summary: stopping.reason,
  }));
}

/**
 * A reply and its calls, from when it is recorded to the one results message of its turn.
 * Invariants: append, count, then emit (C36); ids are unique within the reply; keys come from the step; results stand in
 * proposal order; where the event of a reply leaves something out, the event names the message that has all of it.
 */
import { withAnswer } from '../gates/answer.js';
import { REPETITION_NOTICE, afterNotice, repetitionStep } from '../limits/observed-results.js';
import { settleReservation, costMicroUsd, addUsage, watchGrowth } from '../money/budget.js';
import type { ProposedStage, SettledStage } from '../state/call.js';
import type { CallModelOutput } from '../state/effect.js';
import type { EventBody } from '../state/event.js';
import { NO_USAGE, type ProposedCall, type Reply } from '../state/model.js';
import type { OpenRun, Turn } from '../state/run.js';
import { follows } from '../step/changes.js';
import { appendResults, appendUser, contextAfterReply, messageIdAt } from '../step/conversation.js';
import { callKeyOf } from '../step/open-work.js';
import { emit, warn } from '../step/outbox.js';
import { afterTurn, currentRoute } from '../step/route.js';
import { stop } from '../step/stop.js';
import { evidenceId } from './cycle-evidence.js';
import { auditHosted } from './hosted.js';
import { tellRetries } from './retries.js';

export function recordReply(run: OpenRun, effectId: string, output: CallModelOutput): OpenRun {
  const { reply } = output;
  const route = currentRoute(run);
  const fees = reply.hosted?.feesMicroUsd ?? 0;
  const billed = costMicroUsd(reply.usage, route.prices) + fees;
  const lost = output.lostCostMicroUsd;
  const { asked: _, ...settled } = settleReservation(run, effectId, { billed, lost });
  const usage = addUsage(addUsage(run.tally.usage, reply.usage), output.lostUsage ?? NO_USAGE);
  const spent: OpenRun = { ...settled, head: output.head, pending: [] };
  if (isNothing(reply)) return withRetries({ ...spent, tally: { ...run.tally, usage } }, output);
  const messageId = messageIdAt(run);
  const appended = output.head !== run.head;
  const { calls, hosted: _hosted, usageDefect: _defect, missing: _missing, ...rest } = reply;
  const turn: Turn = {
    reply: run.answerFrom === undefined ? rest : withAnswer(run, rest),
    messageId,
    ...(output.headBefore !== undefined && { headBefore: output.headBefore }),
    calls: calls.map((call, index) =>
      proposed(call, index, callKeyOf(run.tally.step, index, calls.length)),
    ),
    step: run.tally.step,
    dispatched: false,
  };
  const { surplus = 0 } = reply;
  const recorded: OpenRun = {
    ...spent,
    phase: 'validating',
    nextMessage: run.nextMessage + (appended ? 1 : 0),
    context: { ...contextAfterReply(run.context, reply, output.bytes), countedBy: route.name },
    turn,
    tally: {
      ...run.tally,
      modelCalls: run.tally.modelCalls + 1,
      proposedCalls: run.tally.proposedCalls + calls.length + surplus,
      notStartedCalls: run.tally.notStartedCalls + surplus,
      usage,
    },
    replyTokens: (run.replyTokens ?? 0) + reply.usage.output,
  };
  const said = announce(withRetries(recorded, output), turn, billed + lost);
  const announced = reply.hosted === undefined ? said : auditHosted(said, reply.hosted);
  const stopped = withStrangeStop(announced, turn);
  const warned = withStrangeUsage(withMissing(withSurplus(stopped, turn), reply), reply);
  return watchGrowth(warned, reply.usage);
}

function withRetries(run: OpenRun, { retried }: CallModelOutput): OpenRun {
  return retried === undefined || retried.length === 0 ? run : tellRetries(run, retried);
}

/** Cut off by a person before anything had arrived: no round trip, and nobody's message. */
function isNothing({ partial, text, calls }: Reply): boolean {
  return partial === true && text === undefined && calls.length === 0;
}

function proposed(call: ProposedCall, index: number, callKey: string): ProposedStage {
  return {
    stage: 'proposed',
    id: call.id,
    index,
    callKey,
    revision: 0,
    tool: call.tool,
    toolVersion: call.toolVersion,
    args: call.args,
    digest: call.digest,
    attempt: 1,
    attempts: 0,
    check: call.check,
    ...(call.flow !== undefined && { flow: call.flow }),
  };
}

function announce(run: OpenRun, turn: Turn, cost: number): OpenRun {
  const { reply } = turn;
  return emit(run, {
    type: 'model_response',
    call: run.requests,
    messageId: turn.messageId,
    ...(reply.text !== undefined && { text: reply.text }),
    ...shownCalls(run, turn),
    stopReason: stopText(reply),
    model: reply.model,
    usage: reply.usage,
    costMicroUsd: cost,
    ...(reply.clearedTokens !== undefined && { clearedTokens: reply.clearedTokens }),
    ...(reply.partial && { partial: true }),
  });
}

/** A reason that nobody knows decides nothing; the blocks of the reply do (G47). */
function withStrangeStop(run: OpenRun, { reply }: Turn): OpenRun {
  return reply.stop === 'unknown' && !reply.partial
    ? warn(run, 'unknown_stop_reason', stopText(reply))
    : run;
}

function withSurplus(run: OpenRun, { calls, reply: { surplus } }: Turn): OpenRun {
  if (surplus === undefined) return run;
  const made = `the reply had ${calls.length + surplus} calls: ${calls.length} are made`;
  return warn(run, 'surplus_calls', `${made}, the others are errors that the model sees`);
}

/** What came decides; the model is not asked again for what did not. */
function withMissing(run: OpenRun, { missing }: Reply): OpenRun {
  if (missing === undefined) return run;
  return warn(run, 'reply_incomplete', `the vendor never sent ${missing}; the rest is taken`);
}

/** What was paid is not known then, so the run reckons with the most that it can be. */
function withStrangeUsage(run: OpenRun, { usageDefect }: Reply): OpenRun {
  if (usageDefect === undefined) return run;
  return warn(run, 'usage_unreadable', `the bound counts instead of the reported ${usageDefect}`);
}

function stopText(reply: Turn['reply'] | Reply): string {
  return reply.stopDetail === undefined ? reply.stop : `${reply.stop}: ${reply.stopDetail}`;
}

type ModelResponse = Extract<EventBody, { type: 'model_response' }>;

/** Arguments beyond this much in all are left out. */
const EVENT_ARGS_CHARS = 8_000;
const EVENT_CALLS_MAX = 32;

export function shownCalls(
  run: OpenRun,
  { calls, reply }: Turn,
): Pick<ModelResponse, 'calls' | 'head'> {
  let room = EVENT_ARGS_CHARS;
  const shown = calls.slice(0, EVENT_CALLS_MAX).map(({ id, tool, args }) => {
    const size = JSON.stringify(args).length;
    room -= size;
    return { id, tool, args: room >= 0 ? args : { $omitted: size } };
  });
  const hasAllCalls = room >= 0 && shown.length === calls.length + (reply.surplus ?? 0);
  const isWhole = hasAllCalls && !(reply.thinking && follows(run, 'thoughtReplies'));
  const { head } = run;
  if (isWhole || typeof head !== 'string' || !follows(run, 'namedReplies')) {
    return { calls: shown };
  }
  return { calls: shown, head };
}

/** True when every call of the turn has its result. */
export function allSettled(turn: Turn): boolean {
  return turn.calls.every((call) => call.stage === 'settled');
}

/** Appends the results of all calls; the turn is over as far as its calls go. */
export function appendTurnResults(run: OpenRun, turn: Turn): OpenRun {
  const settled = turn.calls.filter((call): call is SettledStage => call.stage === 'settled');
  if (settled.length === 0) return run;
  const messageId = messageIdAt(run);
  const { maxToolResultChars } = run.frozen.budget;
  const { parent } = run.start;
  const appended = appendResults(
    run,
    settled.map((call) => {
      const { callId, isError, code, content, attachments } = call.result;
      const note = noteOf(call, Math.floor(NOTES_CHARS_MAX / settled.length));
      const told = isError && code !== undefined && follows(run, 'errorCodes');
      const evidence = parent && evidenceId(run, parent, call);
      const item = {
        callId,
        isError,
        ...(told && { code }),
        content,
        maxChars: maxToolResultChars,
        ...(evidence !== undefined && { evidence }),
        ...(attachments !== undefined && { attachments }),
      };
      return note === '' ? item : { ...item, note };
    }),
    turn.reply.surplus,
  );
  return emit(appended, {
    type: 'tool_results_message',
    messageId,
    callIds: settled.map((call) => call.id),
  });
}

/** Of the arguments that notes repeat: of one, and of all of a turn together. */
const NOTE_ARGS_CHARS_MAX = 1_000;
const NOTES_CHARS_MAX = 4_000;

/** The model's call stands as it made it, so the result says what became of it (G9). */
function noteOf(call: SettledStage, share: number): string {
  const { filesLeftOut } = call.result;
  const files =
    filesLeftOut === undefined
      ? []
      : [`[${filesLeftOut} more files of this result have no room in this message.]`];
  return [...correctionOf(call, share), ...files].join('\n');
}

function correctionOf(
  { corrected, tool, args, result }: SettledStage,
  share: number,
): readonly string[] {
  if (corrected === undefined) return [];
  const text = JSON.stringify(args);
  const shown = text.slice(0, Math.min(share, NOTE_ARGS_CHARS_MAX));
  const action = `${tool} ${shown.length < text.length ? `${shown}…` : text}`;
  const became = result.started ? 'executed' : 'wanted';
  return [`User ${corrected.kind} this call: ${became} ${action}`];
}

/** The results are in: on to the next turn, unless the run repeats itself. */
export function nextTurn(run: OpenRun, turn: Turn): OpenRun {
  const ended = appendTurnResults(afterTurn(run), turn);
  const { turn: _, partialOutput: __, answerFrom: ___, ...rest } = ended;
  const asks = rest.asks.filter((ask) => ask.outcome === 'pending');
  const next: OpenRun = {
    ...rest,
    asks,
    early: [],
    phase: 'checking_limits',
    tally: { ...rest.tally, turnCount: rest.tally.turnCount + 1, recoveryCount: 0 },
  };
  const step = repetitionStep(next);
  if (step === 'stop') return stop(next, 'needs_human', { detail: 'no_progress' });
  const continued = emit(next, { type: 'transition', reason: 'next_turn' });
  if (step === 'none') return continued;
  return appendUser(afterNotice(continued), { text: REPETITION_NOTICE }, { synthetic: true });
}

/**
 * Records a reply and makes its calls.
 * Invariants: append, count, then emit (C36); ids are unique within the reply; keys come from the step.
 */
import { callKeyOf } from '../step/call-key.js';
import type { ProposedStage } from '../state/call.js';
import type { CallModelOutput } from '../state/effect.js';
import { contextAfterReply } from '../step/context-size.js';
import { addUsage, NO_USAGE, type ProposedCall, type Reply } from '../state/model.js';
import { costMicroUsd } from '../money/price.js';
import { settleReservation } from '../money/budget.js';
import { emit, warn } from '../step/outbox.js';
import { currentRoute } from '../step/route.js';
import type { OpenRun, Turn } from '../state/run.js';
import { messageIdAt } from '../step/transcript-items.js';
import { auditHosted } from './hosted.js';
import { tellRetries } from './retries.js';
import { shownCalls } from './shown-calls.js';

export function recordReply(run: OpenRun, effectId: string, output: CallModelOutput): OpenRun {
  const { reply } = output;
  const route = currentRoute(run);
  const fees = reply.hosted?.feesMicroUsd ?? 0;
  const billed = costMicroUsd(reply.usage, route.prices) + fees;
  const lost = output.lostCostMicroUsd;
  const { asked: _, ...settled } = settleReservation(run, effectId, { billed, lost });
  const usage = addUsage(addUsage(run.tally.usage, reply.usage), output.lostUsage ?? NO_USAGE);
  const spent: OpenRun = { ...settled, head: output.head, pending: [] };
  if (isNothing(reply))
    return tellRetries({ ...spent, tally: { ...run.tally, usage } }, output.retried);
  const messageId = messageIdAt(run);
  const appended = output.head !== run.head;
  const { calls, hosted: _hosted, usageDefect: _defect, missing: _missing, ...rest } = reply;
  const turn: Turn = {
    reply: rest,
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
    context: { ...contextAfterReply(run.context, reply), countedBy: route.name },
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
  const told = tellRetries(recorded, output.retried);
  const announced = auditHosted(announce(told, turn, billed + lost), reply);
  const stopped = withStrangeStop(announced, turn);
  return withStrangeUsage(withMissing(withSurplus(stopped, turn), reply), reply);
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

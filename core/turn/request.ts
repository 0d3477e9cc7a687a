/**
 * Asking the model: queued messages enter the transcript, the bound is reserved, the request leaves.
 * Invariants: no request that does not fit its budgets (B1); a message from outside never comes between a
 * tool call and its result (G74); only visible tools are offered (C48), none for a run's last word (C42).
 */
import { workLimits } from '../step/clock.js';
import { start, only } from '../step/inflight.js';
import type { Attachment } from '../state/attachment.js';
import type { WireEvent } from '../state/event.js';
import { refOf, type ActivityEffect, type CallModelInput } from '../state/effect.js';
import {
  fitRequest,
  leftToSpend,
  modelRetries,
  reserve,
  type RequestBound,
} from '../money/budget.js';
import { follows } from '../step/changes.js';
import { isTaken } from '../step/media.js';
import { emit, leanEvents, warn, warnOnce } from '../step/outbox.js';
import { betasOf, currentRoute, noteRoute, unservedLimit } from '../step/route.js';
import type { OpenRun, Step } from '../state/run.js';
import { exceed } from '../money/exceed.js';
import type { ToolRecord } from '../state/tool.js';
import { appendUser, bytesOf, messageIdAt } from '../step/conversation.js';
import { visibleTools } from '../permission/permission.js';
import { answerSoFar } from '../gates/answer.js';
import { dynamicZone } from './dynamic-zone.js';
import { hostedCosts } from './hosted.js';
import { storeMessages } from './store-messages.js';

/** Deliveries under rules without `workedTime`. */
const MODEL_ATTEMPTS_MAX = 20;
/** UTF-16 units of queued messages that one request takes; the rest waits for the next. */
const QUEUE_CHARS_PER_REQUEST = 16_384;

export function askModel(run: OpenRun): Step<OpenRun> {
  const ready = takeQueue(takeInjected(run));
  const storing = storeMessages(ready);
  if (storing !== undefined && storing !== 'hold') return storing;
  const dynamic = dynamicZone(ready);
  const offered = ready.wrapUp === undefined ? visibleTools(ready) : [];
  const bound = fitRequest(ready, {
    extraBytes: bytesOf({ text: dynamic.join('\n\n') }),
    hosted: hostedCosts(offered),
  });
  if ('misfit' in bound) return only(exceed(ready, bound.misfit));
  const { modelTimeoutMs, heartbeatMs } = ready.frozen.settings;
  const { limits, workMs } = workLimits(ready, {
    attemptMs: modelTimeoutMs,
    ownMs: modelTimeoutMs,
    heartbeatMs: heartbeatMs.repeatable,
    deliveriesMax: MODEL_ATTEMPTS_MAX,
  });
  const building: OpenRun = {
    ...withThinkingTold(noteRoute(ready)),
    phase: 'awaiting_model',
    requests: ready.requests + 1,
    ...(ready.wrapUp !== undefined && { wrapUp: { ...ready.wrapUp, asked: true } }),
    asked: { inputTokens: bound.inputTokens, outputTokens: bound.maxTokens },
  };
  const id = `call_model-${building.nextEffect}`;
  const step = start(building, 'call_model', (effectId, events): ActivityEffect => ({
    kind: 'call_model',
    id: effectId,
    input: {
      ...payload(building, { offered, bound, dynamic, events }),
      ...(workMs !== undefined && { workMs }),
      ...unservedLimit(ready),
    },
    limits,
    summary: `${currentRoute(building).model} #${building.requests}`,
  }));
  return { run: reserve(step.run, id, bound.costMicroUsd), effects: step.effects };
}

interface Request {
  readonly offered: readonly ToolRecord[];
  readonly bound: RequestBound;
  readonly dynamic: readonly string[];
  readonly events: readonly WireEvent[];
}

function payload(run: OpenRun, { offered, bound, dynamic, events }: Request): CallModelInput {
  const { settings, tools } = run.frozen;
  const { maxTokens, ...attemptBound } = bound;
  const before = answerSoFar(run);
  return {
    v: 1,
    run: refOf(run),
    call: run.requests,
    head: run.head ?? run.frozen.prompt.hash,
    append: run.pending,
    replyMessageId: messageIdAt(run),
    route: currentRoute(run),
    ...(offered.length < tools.length && { offered: offered.map((tool) => tool.name) }),
    ...(dynamic.length > 0 && { dynamic }),
    maxTokens,
    temperature: settings.temperature,
    ...thinkingLimit(run),
    ...betasOf(run),
    ...(settings.toolExecution === 'dataflow' && { dataflow: true }),
    bound: attemptBound,
    left: leftToSpend(run),
    maxRetries: modelRetries(run),
    ...(run.frozen.outputSchema !== undefined && { outputSchema: run.frozen.outputSchema }),
    ...(before !== undefined && { before }),
    ...(settings.includePartialMessages && { stream: { keepMs: settings.streamRetentionMs } }),
    events: leanEvents(events, run.pending),
  };
}

/** A person's word counts, then the budget; without either the model decides by itself. */
function thinkingLimit(run: OpenRun): Pick<CallModelInput, 'maxThinkingTokens'> {
  const chosen = run.modelChoice?.maxThinkingTokens;
  const limit = chosen === undefined ? run.frozen.budget.maxThinkingTokens : chosen;
  return typeof limit === 'number' ? { maxThinkingTokens: limit } : {};
}

/** Models differ in what they let be said of their thinking; what is left out of a request is told. */
function withThinkingTold(run: OpenRun): OpenRun {
  const { maxThinkingTokens: limit = 0 } = thinkingLimit(run);
  if (limit === 0 || !follows(run, 'thinkingTold')) return run;
  const { name, thinkingAllowed, thinkingAdaptive } = currentRoute(run);
  const why =
    (thinkingAllowed === false && 'is not told how much to think') ||
    (thinkingAdaptive === true && 'decides itself how much it thinks');
  const words = `${name} ${why}: maxThinkingTokens ${limit} has no effect`;
  return why === false ? run : warnOnce(run, 'thinking_limit_ignored', words);
}

/** What PostSampling hooks said since the last request is part of this one (G39). */
function takeInjected(run: OpenRun): OpenRun {
  if (run.injected === undefined) return run;
  const { injected, ...rest } = run;
  return injected.reduce<OpenRun>(
    (next, text) => appendUser(next, { text }, { synthetic: true }),
    rest,
  );
}

/** Queued user messages become part of the transcript, in order, as many as one payload carries. */
function takeQueue(run: OpenRun): OpenRun {
  let next = withoutReads(run);
  const first = next;
  let chars = 0;
  for (const message of run.queue) {
    const { attachments } = message;
    chars +=
      message.text.length + (attachments === undefined ? 0 : JSON.stringify(attachments).length);
    if (next !== first && chars > QUEUE_CHARS_PER_REQUEST) break;
    const { from, clientMessageId } = message;
    const text = { text: message.text };
    const messageId = messageIdAt(next);
    const rest = { ...next, queue: next.queue.slice(1) };
    const appended = appendUser(rest, text, {
      ...(from !== undefined && { synthetic: true }),
      attachments,
    });
    next = emit(withUnreadTold(appended, attachments), {
      type: 'user_message',
      messageId,
      text,
      ...(clientMessageId !== undefined && { clientMessageId }),
      ...(attachments !== undefined && { attachments }),
      ...(from !== undefined && { from }),
    });
  }
  return next;
}

/** A model that does not read them is told of them in words. */
function withUnreadTold(run: OpenRun, attachments: readonly Attachment[] = []): OpenRun {
  const route = currentRoute(run);
  const unread = attachments.filter((one) => !isTaken(one, route));
  if (unread.length === 0) return run;
  const types = [...new Set(unread.map(({ mediaType }) => mediaType))].join(', ');
  return warn(run, 'attachments_not_read', `${route.name} does not read ${types}`);
}

function withoutReads(run: OpenRun): OpenRun {
  if (run.mail?.reads === undefined) return run;
  const { reads: _, ...mail } = run.mail;
  return { ...run, mail };
}

/**
 * Questions of a run, answered by callbacks of the caller's process.
 * Invariants: a decision is made by the callback and by nothing else, and names the exact action that the
 * callback was shown; a callback that fails, is late or is left decides nothing, so that the question stays
 * open for others; a decision that was made is delivered, over outages, and its refusal is told.
 */
import type { Decision, RejectionReason, Verdict } from '../../core/state/ask.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import { checkAnswerer } from '../decide/decide.js';
import { decisionRejected } from '../decide/rejected.js';
import type { ReadingStore } from '../link.js';
import type { RunHandle } from '../runs/run-handle.js';
import type { FollowQueryOptions, PermissionResult, QuestionReply } from './options.js';
import { overOutages } from './outages.js';

export interface Questioned {
  readonly run: RunHandle;
  readonly store: ReadingStore;
  readonly options: FollowQueryOptions;
  /** Ends the reading with this error. */
  readonly fail: (error: unknown) => void;
}

export interface Answering {
  /** Starts a callback for a question, or ends one for a question that is closed. */
  notice(event: RunEvent): void;
  /** Ends all callbacks; resolves when every decision that was made has been delivered. */
  settle(): Promise<void>;
}

/** The question is closed, as its own event tells. */
const CLOSED: readonly RejectionReason[] = [
  'unknown_ask',
  'late',
  'duplicate',
  'already_decided',
  'run_closing',
];

export function answering(asked: Questioned): Answering {
  const open = new Map<string, AbortController>();
  const deliveries = new Set<Promise<void>>();

  async function answer(ask: AskView, signal: AbortSignal): Promise<void> {
    if (!(await isPending(asked, ask.askId)) || signal.aborted) return;
    const decided = await decisionOf(asked, ask, signal);
    if (decided === null || signal.aborted) return;
    const delivery = deliver(asked, decided, signal);
    deliveries.add(delivery);
    await delivery.finally(() => deliveries.delete(delivery));
  }

  return {
    notice(event) {
      switch (event.type) {
        case 'approval_requested':
        case 'input_request': {
          const { type: _, stamp: __, ...ask } = event;
          if (!hasCallback(asked.options, ask)) return;
          const stop = new AbortController();
          open.get(ask.askId)?.abort();
          open.set(ask.askId, stop);
          answer(ask, stop.signal).catch((error: unknown) => {
            // Whoever is no longer asked may fail as they like; a decision that was made may not get lost.
            if (!stop.signal.aborted) asked.fail(error);
          });
          return;
        }
        case 'approval_resolved':
        case 'approval_withdrawn':
        case 'input_provided':
          open.get(event.askId)?.abort();
          open.delete(event.askId);
          return;
        default:
      }
    },
    async settle() {
      for (const stop of open.values()) stop.abort();
      open.clear();
      // All of them: whoever waits for this takes their connection away.
      const ended = await Promise.allSettled(deliveries);
      const failed = ended.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}

function hasCallback({ canUseTool, onQuestion }: FollowQueryOptions, { kind }: AskView): boolean {
  if (kind === 'user_message') return false;
  return (kind === 'approval' ? canUseTool : onQuestion) !== undefined;
}

/** Events are read behind the run: a question that was closed meanwhile is nobody's any more. */
export async function isPending(
  { run, store }: Pick<Questioned, 'run' | 'store'>,
  askId: string,
): Promise<boolean> {
  return (await store.getAsk(run.tenant, askId))?.outcome === 'pending';
}

/** A run that has ended needs nothing more. */
export function onlyWhenEnded(error: unknown): void {
  if (error instanceof HoldfastError && error.code === 'RunNotFound') return;
  throw error;
}

interface Decided {
  readonly ask: AskView;
  readonly decision: Decision | { readonly text: Json; readonly decider: Person };
}

type Person = Pick<Decision, 'by' | 'roles'>;
type Said = Pick<Decision, 'decision'> &
  Partial<Pick<Decision, 'reason' | 'args' | 'value' | 'amount' | 'grant' | 'interrupt'>>;

async function decisionOf(
  asked: Questioned,
  ask: AskView,
  signal: AbortSignal,
): Promise<Decided | null> {
  const { canUseTool, onQuestion } = asked.options;
  const { runId } = asked.run;
  const { by, roles = [] } = asked.options.decider ?? { by: 'query' };
  const decider = { by, roles };
  if (ask.kind !== 'approval') {
    const reply = (await onQuestion?.(ask, { signal, runId })) ?? null;
    if (reply === null) return null;
    if (reply.kind === 'text') {
      return { ask, decision: { text: reply.value, decider } };
    }
    return { ask, decision: bound(ask, decider, saidOf(reply)) };
  }
  const input = await asked.store.restoreArguments(asked.run.tenant, ask.args ?? {});
  const fields = input as { readonly [name: string]: Json };
  const context = { signal, toolUseID: ask.callId ?? '', ask, runId };
  const result = (await canUseTool?.(ask.tool ?? '', fields, context)) ?? null;
  if (result === null) return null;
  return { ask, decision: bound(ask, decider, permissionOf(result, input)) };
}

/** Anything but a clear answer is an error: nothing is read out of it. */
function permissionOf(result: PermissionResult, input: Json): Said {
  if (result.behavior === 'deny') {
    return {
      decision: 'reject',
      ...(result.message && { reason: String(result.message) }),
      // Part of the decision: sent after it, it would come when the model is asked already.
      ...(result.interrupt === true && { interrupt: true }),
    };
  }
  if (result.behavior !== 'allow') throw unclear('canUseTool', result);
  const { updatedInput, grant } = result;
  const isSame =
    updatedInput === undefined || canonicalJson(updatedInput as Json) === canonicalJson(input);
  if (!isSame) return { decision: 'modify', args: updatedInput };
  return { decision: 'approve', ...(grant !== undefined && { grant }) };
}

function saidOf(reply: Exclude<QuestionReply, { readonly kind: 'text' }>): Said {
  switch (reply.kind) {
    case 'happened':
      return { decision: reply.kind, ...(reply.value !== undefined && { value: reply.value }) };
    case 'not_happened':
    case 'stop':
      return { decision: reply.kind };
    case 'approve':
      return { decision: reply.kind, ...(reply.amount !== undefined && { amount: reply.amount }) };
    case 'reject':
      return { decision: reply.kind, ...(reply.reason !== undefined && { reason: reply.reason }) };
    default:
      throw unclear('onQuestion', reply);
  }
}

const REPLIES = {
  canUseTool: "{ behavior: 'allow', updatedInput?, grant? } or { behavior: 'deny', message }",
  onQuestion:
    "{ kind: 'text', value }, or another kind: happened, not_happened, stop, approve, reject",
} as const;

function unclear(callback: keyof typeof REPLIES, answer: unknown): HoldfastError {
  return new HoldfastError('InvalidTask', `${callback} returned no answer.`, {
    hint: `Return ${REPLIES[callback]}, or null to leave the question to others.`,
    details: { answer: kindOf(answer) },
  });
}

/** Without what a person or a program has written. */
function kindOf(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return typeof answer;
  return `an object with ${Object.keys(answer).slice(0, 10).join(', ') || 'no fields'}`.slice(
    0,
    200,
  );
}

/** Made at the moment of the answer, so that it counts when it was in time, however late it arrives. */
function bound({ askId, argsHash }: AskView, { by, roles }: Person, said: Said): Decision {
  return { v: 1, askId, argsHash, by, roles, decidedAt: Date.now(), ...said };
}

/** The same decision again is the same one to the run. */
function deliver(
  { run }: Questioned,
  { ask, decision }: Decided,
  signal: AbortSignal,
): Promise<void> {
  return overOutages(() => send(run, ask, decision), signal);
}

async function send(run: RunHandle, ask: AskView, decision: Decided['decision']): Promise<void> {
  const { askId } = ask;
  if ('text' in decision) {
    const { text: value, decider } = decision;
    // The run answers no signal: it would wait on without a word to the one who answered.
    checkAnswerer(run.runId, ask, decider);
    return run.provideInput({ askId, value, ...decider }).catch(onlyWhenEnded);
  }
  const delivery = await run.decide(decision);
  if (delivery.delivered !== 'update') return;
  const { verdict } = delivery;
  // Whatever becomes of the decision, the run is to stop.
  if (!verdict.accepted && decision.interrupt) await run.interrupt().catch(onlyWhenEnded);
  checkVerdict(run.runId, askId, verdict);
}

function checkVerdict(runId: string, askId: string, verdict: Verdict): void {
  if (verdict.accepted || CLOSED.includes(verdict.reason)) return;
  throw decisionRejected(verdict, { askId, runId });
}

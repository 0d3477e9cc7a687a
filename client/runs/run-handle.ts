/** One run, as its users reach it. */
import { randomUUID } from 'node:crypto';
import type { Decision } from '../../core/state/ask.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Json } from '../../core/json/json.js';
import {
  parseModelName,
  parsePermissionMode,
  parseThinkingTokens,
  type Parsed,
} from '../../core/messages/parse-message.js';
import type { PermissionMode } from '../../core/state/permission-mode.js';
import type { RunResult } from '../../core/state/result.js';
import type { StreamChunk } from '../../pure/stream.js';
import type { OpenAsk, RunView } from '../../core/state/view.js';
import * as messages from '../../workflows/messages.js';
import { checkMessage } from '../decide/check-message.js';
import {
  answerAsk,
  decideOnAsk,
  type Allowance,
  type Answer,
  type AskDecision,
  type Decider,
} from '../decide/decide.js';
import { deliver, type Delivery } from '../decide/deliver.js';
import { eventsOf, type EventsOptions } from '../read/event-stream.js';
import { attachAll, type MessageOptions } from './attach.js';
import { checkedCalls, RUN_CALLS } from '../checked-calls.js';
import { executionOf, type Execution } from './execution.js';
import { bounded, type Link } from '../link.js';
import { outcomeOf, resultOf, type Outcome, type WaitOptions } from './outcome.js';
import { readAsks, readState } from './state.js';
import { streamOf, type StreamOptions } from '../read/token-stream.js';

/** The action that is wanted instead. */
export interface Replacement {
  readonly tool: string;
  readonly args: Json;
}

/** A run, under way or ended: its result, its events, and what people say to it. */
export interface RunHandle {
  readonly runId: string;
  readonly tenant: string;
  /**
   * Waits for the result, over continue-as-new and short outages of the server. A run that stopped without
   * completing has a result too. Errors: what kept the run from being opened; NetworkTimeout after
   * `timeoutMs`, while the run goes on.
   */
  result(options?: WaitOptions): Promise<RunResult>;
  /** Waits for the result, or until the run waits for a person. */
  outcome(options?: WaitOptions): Promise<Outcome>;
  /** Needs a worker, and waits for one up to `limitMs` (default: that of the connection, 5,000). */
  state(limitMs?: number): Promise<RunView>;
  /**
   * What Temporal knows of it; needs no worker. `brief`, for whoever asks again and again: without what only the history
   * tells, such as what a lost activity does, or since when something is waited for.
   */
  execution(look?: 'brief'): Promise<Execution>;
  /** Every question that is open now. Needs a worker. */
  pendingApprovals(): Promise<readonly OpenAsk[]>;
  /**
   * Events as they happen, from `since` on; ends after `run_result`, or when the run ended without one. After
   * a reset of the run in Temporal `seq` jumps back: what was yielded from there on is superseded.
   */
  events(options?: EventsOptions): AsyncGenerator<RunEvent, void, undefined>;
  /**
   * What its models say, piece by piece, for a run with the setting `includePartialMessages`: each chunk once and
   * in order, also over a reconnect with `after`. An attempt that died is reset by name; what was lost is a `gap`.
   * Ends with the run. Needs a store. Errors: InvalidRequest for a cursor that is none.
   */
  stream(options?: StreamOptions): AsyncGenerator<StreamChunk, void, undefined>;
  /** Delivers a decision as it is and gives the verdict, also a refusal. */
  decide(decision: Decision): Promise<Delivery>;
  /** Delivers the answer to a clarifying question as it is; whether it counts, the run's events tell. */
  provideInput(input: messages.ProvidedInput): Promise<void>;
  /** Any decision, signed where the client has a signer. Errors: AskNotFound, DecisionRejected. */
  decideOn(wanted: AskDecision): Promise<Delivery>;
  /** Errors of these five: AskNotFound, DecisionRejected. */
  approve(askId: string, decider: Decider, allowing?: Allowance): Promise<Delivery>;
  /** Other arguments for the call that is asked about; checked and bound anew before they are used. */
  modify(askId: string, args: Json, decider: Decider): Promise<Delivery>;
  /** Another action in its place. */
  replace(askId: string, action: Replacement, decider: Decider): Promise<Delivery>;
  reject(askId: string, decider: Decider): Promise<Delivery>;
  answer(askId: string, answer: Answer, decider: Decider): Promise<Delivery>;
  /** A follow-up of the user; the same id again is ignored. Gives the id. Files need a store. */
  sendMessage(text: string, message?: string | MessageOptions): Promise<string>;
  /** Another model for the next request. One that the worker does not know changes nothing: a warning says so. */
  setModel(name: string): Promise<void>;
  /** How much the model may think from the next request on; null: its own default. */
  setMaxThinkingTokens(tokens: number | null): Promise<void>;
  /** How much the run may do without asking from now on; open questions are looked at again. */
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Errors: RunNotFound with `details.ended` of a run that has ended. */
  interrupt(): Promise<void>;
  /** Ends a conversation that waits for its user; cancels any other run. Errors: as `interrupt`. */
  close(): Promise<void>;
  /** Changes nothing of a run that has ended, and throws nothing. */
  cancel(): Promise<void>;
  /** Goes on in a new segment at the next boundary (continue-as-new), under the newest rules. */
  nextSegment(): Promise<void>;
}

/** A handle; nothing is asked of the server yet. */
export function runHandle(link: Link, runId: string): RunHandle {
  const workflow = link.temporal.workflow.getHandle(runId);
  const calls: RunHandle = {
    runId,
    tenant: link.tenant,
    result: (options) => resultOf(link, runId, options),
    outcome: (options) => outcomeOf(link, runId, options),
    state: (limitMs) => readState(link, runId, limitMs),
    execution: (look) => executionOf(link, runId, look),
    pendingApprovals: () => readAsks(link, runId),
    events: (options) => eventsOf(link, runId, options),
    stream: (options) => streamOf(link, runId, options),
    decide: (decision) => deliver(link, runId, decision),
    decideOn: (wanted) => decideOnAsk(link, runId, wanted),
    provideInput: (input) =>
      bounded(link, { runId }, () => workflow.signal(messages.provideInput, input)),
    approve: (askId, decider, allowing = {}) =>
      decideOnAsk(link, runId, { ...decider, askId, decision: 'approve', allowing }),
    modify: (askId, args, decider) =>
      decideOnAsk(link, runId, { ...decider, askId, decision: 'modify', args }),
    replace: (askId, { tool, args }, decider) =>
      decideOnAsk(link, runId, { ...decider, askId, decision: 'replace', tool, args }),
    reject: (askId, decider) => decideOnAsk(link, runId, { ...decider, askId, decision: 'reject' }),
    answer: (askId, answer, decider) => answerAsk(link, runId, { ...decider, askId, answer }),
    sendMessage: (text, message) => sendMessage(link, runId, { text, message }),
    setModel: async (name) => {
      const model = accepted(parseModelName(name));
      await bounded(link, { runId }, () => workflow.signal(messages.setModel, model));
    },
    setMaxThinkingTokens: async (tokens) => {
      const limit = accepted(parseThinkingTokens(tokens));
      await bounded(link, { runId }, () => workflow.signal(messages.setMaxThinkingTokens, limit));
    },
    setPermissionMode: async (mode) => {
      const wanted = accepted(parsePermissionMode(mode));
      await bounded(link, { runId }, () => workflow.signal(messages.setPermissionMode, wanted));
    },
    interrupt: () => bounded(link, { runId }, () => workflow.signal(messages.interrupt)),
    close: () => bounded(link, { runId }, () => workflow.signal(messages.close)),
    cancel: async () => {
      await bounded(link, { runId }, () => workflow.cancel());
    },
    nextSegment: () => bounded(link, { runId }, () => workflow.signal(messages.nextSegment)),
  };
  return checkedCalls(calls, RUN_CALLS);
}

/** What the run would refuse is refused here, where somebody hears of it. */
function accepted<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new HoldfastError('InvalidTask', `The value cannot be set: ${parsed.reason}.`, {
    hint: 'Correct the value and send it again.',
  });
}

async function sendMessage(
  link: Link,
  runId: string,
  {
    text,
    message,
  }: { readonly text: string; readonly message: string | MessageOptions | undefined },
): Promise<string> {
  const given = typeof message === 'string' ? { id: message } : message;
  const { id = `msg_${randomUUID()}`, attachments: files }: MessageOptions = given ?? {};
  checkMessage({ text, id });
  const attachments = await attachAll(link, files);
  const said = { text, id, ...(attachments !== undefined && { attachments }) };
  checkMessage(said);
  await bounded(link, { runId }, () =>
    link.temporal.workflow.getHandle(runId).signal(messages.userMessage, said),
  );
  return id;
}

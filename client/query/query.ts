/**
 * A run as an async generator of messages with controls (C34).
 */
import type { MessageOptions } from '../runs/attach.js';
import type { OpenAsk } from '../../core/state/view.js';
import type { PermissionMode } from '../../core/state/permission-mode.js';
import type { RunResult } from '../../core/state/result.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import { checkQuery } from './check-query.js';
import type { QueryRequest } from './options.js';
import { QueryLife, type QueryPlace, type TotalUsage } from './query-life.js';

/** The messages of a run as they come, with what its caller may say meanwhile. */
export interface Query extends AsyncGenerator<SDKMessage, void, undefined> {
  /** Stops what is under way; the stream goes on to the result. Of a run that has ended nothing is. */
  interrupt(): Promise<void>;
  /** For the next request. A model that the worker does not know changes nothing. */
  setModel(name: string): Promise<void>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** null: the model's own default. */
  setMaxThinkingTokens(tokens: number | null): Promise<void>;
  /**
   * Ends a conversation that waits for its user, cancels any other run; the stream goes on to the result. A run
   * that has ended stays as it is.
   */
  close(): Promise<void>;
  /** A follow-up of the user; gives its id. */
  sendMessage(text: string, message?: string | MessageOptions): Promise<string>;
  runId(): Promise<string>;
  sessionId(): Promise<string>;
  /** Needs a worker until the result has been read. */
  totalUsage(): Promise<TotalUsage>;
  /** Every question that is open now. Needs a worker. */
  pendingApprovals(): Promise<readonly OpenAsk[]>;
  /** Waits for the result, without reading messages: questions are answered only while somebody reads. */
  result(): Promise<RunResult>;
  /** As leaving the loop: for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

export function openQuery(open: () => Promise<QueryPlace>, request: QueryRequest): Query {
  checkQuery(request);
  const life = new QueryLife(open, request);
  const messages = life.messages();
  const leave = async (): Promise<void> => {
    life.leave();
    // Runs the generator's own end when it is suspended; one that never ran has none.
    await messages.return();
    await life.end();
  };
  const query: Query = {
    next: () => messages.next(),
    async return() {
      await leave();
      return { done: true, value: undefined };
    },
    async throw(error: unknown) {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]: () => query,
    [Symbol.asyncDispose]: leave,
    interrupt: () => life.stop((run) => run.interrupt()),
    setModel: async (name) => (await life.begin()).run.setModel(name),
    setPermissionMode: async (mode) => (await life.begin()).run.setPermissionMode(mode),
    setMaxThinkingTokens: async (tokens) => (await life.begin()).run.setMaxThinkingTokens(tokens),
    close: () => life.stop((run) => run.close()),
    sendMessage: async (text, message) => (await life.begin()).run.sendMessage(text, message),
    runId: async () => (await life.begin()).run.runId,
    sessionId: () => life.sessionId(),
    totalUsage: () => life.totalUsage(),
    pendingApprovals: async () => (await life.begin()).run.pendingApprovals(),
    result: () => life.result(),
  };
  return query;
}

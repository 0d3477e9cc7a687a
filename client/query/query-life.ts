/**
 * What a query does between its first message and its end.
 * Invariants: nothing is started before the first message or the first control is asked for; however the
 * query is left, its callbacks, waits and connection end, and the run goes on unless it was to be closed.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { ownValue } from '../../core/json/json.js';
import type { PermissionMode } from '../../core/state/permission-mode.js';
import type { RunResult } from '../../core/state/result.js';
import type { SDKMessage, SDKUsage } from '../../pure/sdk/message.js';
import type { Projection } from '../../pure/sdk/projection.js';
import { usageOf } from '../../pure/sdk/result-message.js';
import { type Link, storeOf } from '../link.js';
import { runHandle, type RunHandle } from '../runs/run-handle.js';
import { newRunId } from '../runs/run-id.js';
import { startRun } from '../runs/start-run.js';
import { readState } from '../runs/state.js';
import { answering, onlyWhenEnded, type Answering, type Questioned } from './answer-asks.js';
import { feeding, withoutRepeats } from './feed.js';
import { filesOfPrompt, isConversation, startOf, textOfPrompt } from './check-query.js';
import type { QueryRequest, StartQuery, UserPrompt } from './options.js';
import { readTree } from './tree-messages.js';

/** What a query has used so far, all runs of the model and summaries included. */
export interface TotalUsage extends SDKUsage {
  readonly total_cost_usd: number;
}

/** Where a query works; released when it is left. */
export interface QueryPlace {
  readonly link: Link;
  release(): Promise<void>;
}

interface Begun {
  readonly place: QueryPlace;
  readonly run: RunHandle;
}

const MODE_LIMIT_MS = 2_000;

export class QueryLife {
  private readonly left = new AbortController();
  private readonly input: AsyncIterator<UserPrompt> | undefined;
  private begun: Promise<Begun> | undefined;
  private readonly answers = new Map<string, Answering>();
  private ended: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;
  private seen: Projection | undefined;
  private final: RunResult | undefined;
  private readonly cancel = (): void => {
    this.begin()
      .then(({ run }) => run.cancel())
      .catch(onlyWhenEnded)
      .catch((error: unknown) => this.fail(error));
  };

  constructor(
    private readonly open: () => Promise<QueryPlace>,
    private readonly request: QueryRequest,
  ) {
    const { prompt } = request;
    const isTalk = isConversation(prompt);
    this.input = isTalk ? withoutRepeats(prompt[Symbol.asyncIterator]()) : undefined;
  }

  begin(): Promise<Begun> {
    if (this.begun === undefined) {
      this.begun = this.start();
      this.begun.catch(() => undefined);
    }
    return this.begun;
  }

  /** Ends all waiting; what is under way comes to its end. */
  leave(): void {
    this.left.abort();
  }

  async *messages(): AsyncGenerator<SDKMessage, void, undefined> {
    try {
      const { place, run } = await this.begin();
      yield* this.read(place.link, run);
      if (this.failure !== undefined) throw this.failure.error;
      if (this.final !== undefined || this.left.signal.aborted) return;
      // What kept the run from being opened, or who ended it from outside.
      await run.result({ signal: this.left.signal });
      throw new HoldfastError('StoreUnavailable', `Run ${run.runId} has no events to read.`, {
        hint: 'Connect with the store that the workers write.',
      });
    } catch (error) {
      // Whoever has left hears of nothing but what they wanted done.
      if (this.failure === undefined && this.left.signal.aborted) return;
      throw error;
    } finally {
      await this.end();
    }
  }

  /** Ends or interrupts a run; of one that has ended, nothing is left to be done. */
  async stop(act: (run: RunHandle) => Promise<void>): Promise<void> {
    if (this.final !== undefined) return;
    await act((await this.begin()).run).catch(onlyWhenEnded);
  }

  async sessionId(): Promise<string> {
    if (this.seen !== undefined) return this.seen.sessionId;
    const { place, run } = await this.begin();
    const { sessionId = run.runId } = await readState(place.link, run.runId);
    return sessionId;
  }

  async totalUsage(): Promise<TotalUsage> {
    const { usage, costMicroUsd } = this.final ?? (await (await this.begin()).run.state()).counters;
    return { ...usageOf(usage), total_cost_usd: costMicroUsd / 1e6 };
  }

  async result(): Promise<RunResult> {
    return this.final ?? (await (await this.begin()).run.result());
  }

  /** Once; a decision that could not be delivered, or a run that could not be closed, is an error here. */
  end(): Promise<void> {
    this.ended ??= this.tidy();
    return this.ended;
  }

  private async start(): Promise<Begun> {
    const { abortController } = this.request.options ?? {};
    if (abortController?.signal.aborted) throw abortedEarly();
    const hurry = AbortSignal.any([this.left.signal, ...present(abortController?.signal)]);
    const place = await this.open();
    try {
      storeOf(place.link);
      const { tenant = place.link.tenant } = this.request.options ?? {};
      const link = { ...place.link, tenant };
      const run = await this.reach(link, hurry);
      if (abortController?.signal.aborted) {
        // Its result may be far: perhaps no worker is there to end it.
        await run.cancel().catch(onlyWhenEnded);
        throw abortedEarly();
      }
      abortController?.signal.addEventListener('abort', this.cancel, { once: true });
      return { place: { ...place, link }, run };
    } catch (error) {
      await place.release();
      throw error;
    }
  }

  /** `hurry`: nobody wants to wait any more until the run is open. */
  private async reach(link: Link, hurry: AbortSignal): Promise<RunHandle> {
    const { request } = this;
    if ('runId' in request) {
      const run = runHandle(link, request.runId);
      await run.execution('brief');
      return run;
    }
    const { goal, files } = await this.goalOf(request, hurry);
    const start = startOf(goal, request.options, this.input !== undefined);
    const attachments = [...(start.attachments ?? []), ...files];
    const { runId = newRunId() } = start;
    try {
      return await startRun(link, { ...start, attachments, runId }, hurry);
    } catch (error) {
      // Started, and opened by nobody: it would begin when nobody waits for it.
      const mayBegin = error instanceof HoldfastError && error.code === 'ServerUnavailable';
      const { closeOnReturn } = request.options;
      if (mayBegin && closeOnReturn) await closeQuietly(runHandle(link, runId));
      throw error;
    }
  }

  private async goalOf({ prompt }: StartQuery, hurry: AbortSignal) {
    if (this.input === undefined)
      return { goal: prompt as Exclude<typeof prompt, AsyncIterable<unknown>>, files: [] };
    const first = await unlessAborted(this.input.next(), hurry);
    if (first === undefined || hurry.aborted) throw abortedEarly();
    if (!first.done) return { goal: textOfPrompt(first.value), files: filesOfPrompt(first.value) };
    throw new HoldfastError('InvalidTask', 'The prompt gave no message.', {
      hint: 'Give at least one message: the first one is the goal of the run.',
    });
  }

  private async *read(link: Link, run: RunHandle): AsyncGenerator<SDKMessage, void, undefined> {
    const { request, input, left } = this;
    const options = request.options ?? {};
    const store = storeOf(link);
    const asked = { store, options, fail: (error: unknown) => this.fail(error) };
    const feed = input === undefined ? undefined : feeding(input, { ...asked, run }, left.signal);
    const after = 'runId' in request ? request.afterCursor : undefined;
    const told = readTree({
      run,
      handle: (runId) => runHandle(link, runId),
      store,
      circumstances: await this.circumstances(link, run),
      seen: seenIn(request, run.runId),
      ...(options.includePartialMessages && { tokens: { ...(after && { after }) } }),
      signal: left.signal,
    });
    for await (const { of, isRoot, seen, messages } of told) {
      if (seen === undefined) {
        yield* messages;
        continue;
      }
      const { event, state } = seen;
      if (isRoot) {
        this.seen = state;
        if (event.type === 'run_result') this.final = event.result;
      }
      this.answersOf({ ...asked, run: of }).notice(event);
      yield* messages;
      // The user's next message is wanted when everything before it has been seen.
      if (isRoot) feed?.notice(event);
    }
  }

  /** Of the run itself, and of each sub-agent of which something is read. */
  private answersOf(asked: Questioned): Answering {
    const { runId } = asked.run;
    const known = this.answers.get(runId) ?? answering(asked);
    this.answers.set(runId, known);
    return known;
  }

  private async circumstances(link: Link, run: RunHandle) {
    const { cwd, permissionMode } = ('runId' in this.request ? {} : this.request.options) as {
      readonly cwd?: string;
      readonly permissionMode?: PermissionMode;
    };
    const asked =
      permissionMode ??
      // Only a worker can say; without one it is told by what is usual.
      (await readState(link, run.runId, MODE_LIMIT_MS).catch(() => undefined))?.permissionMode;
    return { cwd: cwd ?? process.cwd(), permissionMode: asked ?? 'default' };
  }

  private fail(error: unknown): void {
    if (this.left.signal.aborted) return;
    this.failure = { error };
    this.left.abort();
  }

  private async tidy(): Promise<void> {
    this.left.abort();
    const { abortController, closeOnReturn } = this.request.options ?? {};
    abortController?.signal.removeEventListener('abort', this.cancel);
    // A generator that waits for its own next message returns only after it.
    this.input?.return?.().then(undefined, () => undefined);
    const begun = await this.begun?.catch(() => undefined);
    if (begun === undefined) return;
    try {
      await settleAll([...this.answers.values()]);
      if (closeOnReturn && this.final === undefined) await begun.run.close().catch(onlyWhenEnded);
    } finally {
      await begun.place.release();
    }
  }
}

/** `seq` of what was seen of each run. */
function seenIn(request: QueryRequest, root: string): (runId: string) => number {
  const { afterSeq = -1, afterSeqs = {} } = 'runId' in request ? request : {};
  return (runId) => (runId === root ? afterSeq : (ownValue(afterSeqs, runId) ?? -1));
}

/** All of them, whichever fails. */
async function settleAll(answers: readonly Answering[]): Promise<void> {
  const ended = await Promise.allSettled(answers.map((one) => one.settle()));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function abortedEarly(): HoldfastError {
  return new HoldfastError('Aborted', 'The query was aborted before it began.');
}

/** Whoever asked is told already what is wrong. */
async function closeQuietly(run: RunHandle): Promise<void> {
  await run.close().catch(() => undefined);
}

function present<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(undefined);
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

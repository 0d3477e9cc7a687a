/**
 * A conversation: runs of one session, one after the other, each with as many messages as it takes.
 * Invariants: a run that the person leaves is closed, and its session kept; a run that waits for somebody who
 * is not here is left open; a refused decision is told and asked again, never made up; a line that cannot be sent
 * is told, and the next one asked for.
 */
import { checkMessage } from '../../client/decide/check-message.js';
import { checkStart } from '../../client/runs/check-start.js';
import type { HoldfastClient, Query, QueryOptions, UserPrompt } from '../../client/index.js';
import type { AskView } from '../../core/state/ask-view.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Counters } from '../../core/state/result.js';
import type { SDKMessage, SDKResultMessage, SDKStatusMessage } from '../../pure/sdk/message.js';
import type { HintsOf } from '../desk/actor.js';
import { EXIT, exitCodeOfResult } from '../exit-code.js';
import type { Output } from '../terminal/output.js';
import { approvalCard, costLine, inert, shellWord } from '../render/index.js';
import { askPersonHere, type Callbacks } from './ask-person.js';
import { ChatScreen } from './chat-screen.js';
import type { LineSource } from './line-source.js';
import { talker } from './talker.js';

export interface Chat {
  readonly client: HoldfastClient;
  readonly output: Output;
  readonly lines: LineSource;
  /** How commands that answer a question look here; default: as in local development. */
  readonly hints?: HintsOf;
  /** A person is at the other end. */
  readonly interactive: boolean;
  readonly start: Omit<QueryOptions, 'resume' | 'continue'>;
  readonly resume?: string;
  readonly continue?: boolean;
  /** A run that is still open, to go on with. */
  readonly openRun?: string;
}

const PROMPT = 'you> ';
/** Longest wait for the end of a run that is left. */
const LEAVE_LIMIT_MS = 10_000;

/** Of the run, or of a sub-agent below it. */
interface Question {
  readonly ask: AskView;
  readonly runId: string;
}

/** How a run of the conversation was left. */
type Left = 'ended' | 'left' | 'waiting';

export class Conversation {
  private readonly screen: ChatScreen;
  private readonly leaving = new AbortController();
  private readonly callbacks: Partial<Callbacks>;
  private current: Query | undefined;
  private runId = '';
  private session: string | undefined;
  private latest: boolean;
  private interrupts = 0;
  private last: SDKResultMessage | undefined;
  /** What the run waits for, besides its user's next message. */
  private readonly questions = new Map<string, Question>();
  private telling: Promise<void> | undefined;
  private isStranded = false;
  /** What the cost shown last was for. */
  private shownSpend = '';
  /** The run waits for its user's next message. */
  private isIdle = false;

  constructor(private readonly chat: Chat) {
    const { output, lines, interactive, resume, continue: latest = false } = chat;
    this.screen = new ChatScreen(output);
    this.session = resume;
    this.latest = latest;
    this.callbacks = interactive ? askPersonHere({ lines, output }) : {};
    const strand = (): void => {
      const [question] = this.questions.values();
      if (question !== undefined) this.strand(question);
    };
    lines.over.addEventListener('abort', strand, { once: true });
  }

  /** Gives the exit code. */
  async run(): Promise<number> {
    try {
      return await this.converse();
    } catch (error) {
      if (this.runId !== '') await this.leaveBroken();
      throw error;
    } finally {
      await this.telling;
    }
  }

  /** The person did not leave: only a run that waits for them is closed, and nothing under way is stopped. */
  private async leaveBroken(): Promise<void> {
    const { client, output } = this.chat;
    const { runId } = this;
    const view = await client
      .handle(runId)
      .state()
      .catch(() => undefined);
    if (view?.status === 'awaiting_user') await this.leave();
    else if (this.last?.run_id !== runId) {
      output.remark(`Run ${inert(runId)} is still open: holdfast show ${shellWord(runId)}`);
    }
    this.farewell();
  }

  private async converse(): Promise<number> {
    let { openRun } = this.chat;
    for (;;) {
      const how = openRun === undefined ? await this.begin() : await this.goOn(openRun);
      openRun = undefined;
      if (how === 'waiting') return EXIT.waiting;
      if (how === 'left') break;
      await this.afterEnd();
      if (!this.chat.interactive && this.last?.is_error) {
        return exitCodeOfResult(this.last.run_result);
      }
    }
    await this.leave();
    this.farewell();
    return EXIT.completed;
  }

  /** Ctrl-C: interrupts what is under way; again, or with nothing under way twice, leaves. */
  interrupt(): void {
    const { output, interactive } = this.chat;
    this.interrupts += 1;
    if (this.interrupts === 1 && this.current !== undefined && !this.isIdle) {
      output.remark('\nInterrupting; Ctrl-C again leaves.');
      // What came too late for it is ended by whoever leaves.
      this.current.interrupt().catch(() => undefined);
    } else if (this.interrupts === 1 && interactive) output.remark('\nCtrl-C again leaves.');
    else {
      this.leaving.abort();
      this.current?.return().catch(() => undefined);
    }
  }

  private async nextLine(check: (line: string) => void): Promise<string | undefined> {
    const { lines, interactive, output } = this.chat;
    for (;;) {
      const line = await lines.next(interactive ? PROMPT : '', this.leaving.signal);
      this.interrupts = 0;
      if (line === undefined) return undefined;
      if (line.trim() === '') continue;
      try {
        check(line);
        return line;
      } catch (error) {
        output.failure(error);
      }
    }
  }

  private talk(first?: string): AsyncIterable<UserPrompt> {
    const { lines } = this.chat;
    const nextLine = (): Promise<string | undefined> =>
      this.nextLine((text) => checkMessage({ text }));
    return { [Symbol.asyncIterator]: () => talker(first, nextLine, lines) };
  }

  private async begin(): Promise<Left> {
    const { client, start, lines } = this.chat;
    const { agent } = start;
    const first = await this.nextLine((goal) => void checkStart({ agent, task: { goal } }));
    if (first === undefined) return 'left';
    const { session: resume, latest } = this;
    const from = resume === undefined ? { continue: latest } : { resume };
    const options = { ...start, ...from, ...this.callbacks };
    try {
      return await this.follow(client.query({ prompt: this.talk(first), options }));
    } catch (error) {
      const open = openRunOf(error);
      if (open === undefined) throw error;
      lines.unread(first);
      return this.goOn(open);
    }
  }

  private async goOn(runId: string): Promise<Left> {
    const { client, output, interactive } = this.chat;
    output.remark(`Going on with run ${inert(runId)}, which is still open.`);
    const run = client.handle(runId);
    const { events } = await run.state();
    const asks = await run.pendingApprovals();
    this.runId = runId;
    for (const ask of asks) {
      if (ask.kind === 'user_message') continue;
      this.questions.set(ask.askId, { ask, runId });
      if (interactive) continue;
      this.strand({ ask, runId });
      return 'waiting';
    }
    return this.again(events - 1);
  }

  private again(afterSeq: number, afterCursor?: string): Promise<Left> {
    const { client, start } = this.chat;
    const options = {
      ...this.callbacks,
      includePartialMessages: true,
      ...(start.decider && { decider: start.decider }),
    };
    const cursor = afterCursor === undefined ? {} : { afterCursor };
    const { runId } = this;
    return this.follow(client.query({ runId, afterSeq, ...cursor, prompt: this.talk(), options }));
  }

  private async follow(asked: Query): Promise<Left> {
    this.current = asked;
    let seen: SDKMessage | undefined;
    let cursor: string | undefined;
    try {
      for await (const message of asked) {
        const isOwn = !isOfSubAgent(message);
        if (isOwn) seen = message;
        if (isOwn && message.type === 'stream_event') cursor = message.cursor ?? cursor;
        await this.told(message);
      }
    } catch (error) {
      if (!isRefused(error) || seen === undefined) throw error;
      this.chat.output.failure(error);
      return this.again(seen.seq, cursor);
    } finally {
      this.current = undefined;
    }
    if (this.isStranded) return 'waiting';
    return this.last?.run_id === this.runId ? 'ended' : 'left';
  }

  private async told(message: SDKMessage): Promise<void> {
    if (isOfSubAgent(message)) {
      // What it says is for its parent; what it asks is for people.
      if (message.type === 'system' && message.subtype === 'status') this.noteQuestion(message);
      return;
    }
    this.runId = message.run_id;
    this.screen.show(message);
    if (message.type === 'result') this.last = message;
    this.isIdle = message.type === 'system' && this.isIdle;
    if (message.type !== 'system' || message.subtype !== 'status') return;
    this.isIdle = message.status === 'awaiting_user';
    if (this.isIdle) await this.tellCost();
    else this.noteQuestion(message);
  }

  private noteQuestion({ ask, ask_id: askId, run_id: runId }: SDKStatusMessage): void {
    const { interactive, lines } = this.chat;
    if (ask === undefined) {
      this.questions.delete(askId ?? '');
      return;
    }
    this.questions.set(ask.askId, { ask, runId });
    if (!interactive || lines.over.aborted) this.strand({ ask, runId });
  }

  /** The run waits for somebody who is not here: it is left as it is. */
  private strand(question: Question): void {
    this.isStranded = true;
    this.telling = this.tellStranded(question);
    this.current?.return().catch(() => undefined);
  }

  private async tellStranded({ ask, runId }: Question): Promise<void> {
    const { output, hints } = this.chat;
    const { first, ...looks } = (await hints?.({ runId })) ?? {};
    output.line(approvalCard(ask, { runId, now: Date.now(), paint: output.paint, ...looks }));
    output.remark('The run waits for a person. Answer with a command above.');
    if (first !== undefined) output.remark(first);
  }

  private async tellCost(): Promise<void> {
    const { client } = this.chat;
    const view = await client
      .handle(this.runId)
      .state()
      .catch(() => undefined);
    if (view !== undefined) this.showCost(view.counters);
  }

  /** Once for what was spent: a run that ends where it waited for its user has nothing new to say. */
  private showCost(counters: Counters): void {
    const { output } = this.chat;
    const { costMicroUsd, usage, modelCalls, toolCalls } = counters;
    const spent = JSON.stringify([this.runId, costMicroUsd, usage, modelCalls, toolCalls]);
    if (spent === this.shownSpend) return;
    this.shownSpend = spent;
    output.line(output.paint.dim(costLine(counters)));
  }

  private async afterEnd(): Promise<void> {
    if (this.last === undefined) return;
    this.latest = false;
    await this.keepSession();
    this.showCost(this.last.run_result.counters);
  }

  /** Closed rather than left open for weeks; what was said is kept. */
  private async leave(): Promise<void> {
    if (this.runId === '' || this.last?.run_id === this.runId) return;
    await this.chat.client
      .handle(this.runId)
      .close()
      .catch(() => undefined);
    await this.keepSession();
  }

  /** The next run of the conversation goes on with it. */
  private async keepSession(): Promise<void> {
    const limit = { timeoutMs: LEAVE_LIMIT_MS };
    const whole = await this.chat.client
      .handle(this.runId)
      .result(limit)
      .catch(() => undefined);
    if (whole?.session?.saved) this.session = whole.session.id;
  }

  private farewell(): void {
    const { session, chat } = this;
    if (session === undefined) return;
    const command = `holdfast chat ${shellWord(chat.start.agent)} --resume ${shellWord(session)}`;
    chat.output.remark(`Kept as session ${inert(session)}. Go on with: ${command}`);
  }
}

function isOfSubAgent(message: SDKMessage): boolean {
  return typeof message.parent_tool_use_id === 'string';
}

function openRunOf(error: unknown): string | undefined {
  if (!(error instanceof HoldfastError) || error.code !== 'SessionBusy') return undefined;
  const runId = error.details?.runId;
  return typeof runId === 'string' ? runId : undefined;
}

function isRefused(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === 'DecisionRejected';
}

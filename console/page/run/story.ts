/**
 * A run's events as steps that people can follow: a model call, a tool call, a wait are one step each, from the
 * event that begins it to the one that ends it. Pure.
 * Invariants: a step keeps its place, later events only complete it; a step that has not changed is the same object.
 */
import { endWords } from '../../../pure/deciders-of.js';
import type { RunEvent, RunResult } from '../data/api-types.js';
import { noteOf, waitTitle, type Note, type Tone } from './story-words.js';

export interface Step {
  readonly id: string;
  readonly tone: Tone;
  readonly turn: number;
  /** ms since epoch. */
  readonly from: number;
  /** Undefined: it is under way. */
  readonly to: number | undefined;
  readonly title: string;
  /** Of the runtime itself. */
  readonly detail?: string;
  readonly outcome?: 'ok' | 'error';
  readonly begun?: RunEvent;
  readonly ended?: RunEvent;
  /** What was said in it no longer counts, and is not shown. */
  readonly takenBack?: true;
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;
type Said = Pick<Step, 'tone' | 'title'> & Partial<Step>;
type WaitEnd = Of<'approval_resolved' | 'approval_withdrawn' | 'input_provided'>;

const REFUSALS = ['rejected', 'expired', 'withdrawn', 'stopped'];

export class Story {
  readonly steps: Step[] = [];
  result: RunResult | undefined;
  costMicroUsd = 0;
  modelCalls = 0;
  toolCalls = 0;
  retries = 0;
  /** The places of steps that have begun and not ended, by what ends them. */
  readonly #open = new Map<string, number>();
  /** The places of replies, by their messages. */
  readonly #replies = new Map<string, number>();
  #lastAt = 0;

  take(event: RunEvent): void {
    this.#takeStep(event);
    // Between two attempts at one reply the model is at work.
    if (event.type !== 'retry') this.#lastAt = event.stamp.at;
  }

  #takeStep(event: RunEvent): void {
    switch (event.type) {
      case 'model_response':
        return this.#modelStep(event);
      case 'tool_started':
        return this.#begin(event, `tool ${event.callId}`, { tone: 'tool', title: event.tool });
      case 'tool_finished':
        return this.#toolEnd(event);
      case 'approval_requested':
      case 'input_request':
        return this.#begin(event, `ask ${event.askId}`, { tone: 'wait', title: waitTitle(event) });
      case 'approval_resolved':
      case 'approval_withdrawn':
      case 'input_provided':
        return this.#waitEnd(event);
      case 'tombstone':
        return this.#takeBack(event);
      case 'run_result':
        this.result = event.result;
        return undefined;
      default:
        if (event.type === 'retry') this.retries += 1;
        return this.#note(event, noteOf(event));
    }
  }

  #modelStep(event: Of<'model_response'>): void {
    this.costMicroUsd += event.costMicroUsd;
    this.modelCalls += 1;
    const calls = event.calls.length;
    const proposed = calls === 1 ? 'a call' : `${calls} calls`;
    const title = calls === 0 ? 'The model answers' : `The model proposes ${proposed}`;
    this.#replies.set(event.messageId, this.steps.length);
    this.#add(event, { tone: 'model', title, from: this.#lastAt || event.stamp.at });
  }

  /** Of a reply that broke off nothing was a step. */
  #takeBack(event: Of<'tombstone'>): void {
    const place = this.#replies.get(event.targetMessageId);
    const step = place === undefined ? undefined : this.steps[place];
    const said = { title: 'A reply was taken back', detail: event.reason } as const;
    if (place === undefined || step === undefined) this.#add(event, { tone: 'note', ...said });
    else this.steps[place] = { ...step, ...said, takenBack: true };
  }

  #toolEnd(event: Of<'tool_finished'>): void {
    if (event.started) this.toolCalls += 1;
    this.costMicroUsd += event.costMicroUsd ?? 0;
    const isRefused = event.status !== 'ok';
    const detail = event.code ?? (event.attempts > 1 ? `${event.attempts} attempts` : undefined);
    const said = {
      outcome: isRefused ? 'error' : 'ok',
      ...(detail !== undefined && { detail }),
    } as const;
    if (this.#end(event, `tool ${event.callId}`, said)) return;
    this.#add(event, {
      tone: isRefused ? 'trouble' : 'tool',
      title: isRefused ? `${event.tool} was not run` : event.tool,
      ...said,
    });
  }

  #waitEnd(event: WaitEnd): void {
    const outcome = event.type === 'approval_withdrawn' ? 'withdrawn' : event.outcome;
    const by = 'by' in event ? endWords(event) : '';
    const grant = 'grant' in event ? event.grant : undefined;
    const more = grant === undefined ? '' : `, and up to ${grant.uses} more like it`;
    const wasOpen = this.#end(event, `ask ${event.askId}`, {
      detail: `${outcome}${by}${more}`,
      outcome: REFUSALS.includes(outcome) ? 'error' : 'ok',
    });
    if (!wasOpen) this.#grantUse(event);
  }

  /** Nobody was asked, because somebody had approved it before. */
  #grantUse(event: WaitEnd): void {
    if (event.type !== 'approval_resolved' || event.reason?.startsWith('grant:') !== true) return;
    const title = `${event.tool ?? 'An action'} goes ahead by a standing grant`;
    this.#add(event, { tone: 'note', title, detail: `given by ${event.by.join(', ')}` });
  }

  #note(event: RunEvent, note: Note | undefined): void {
    if (note === undefined) return;
    const [tone, title, detail] = note;
    this.#add(event, { tone, title, ...(detail !== undefined && { detail }) });
  }

  #add(event: RunEvent, said: Said): void {
    const { at, turn, seq } = event.stamp;
    this.steps.push({ id: String(seq), turn, from: at, to: at, ended: event, ...said });
  }

  #begin(event: RunEvent, name: string, said: Said): void {
    const { at, turn, seq } = event.stamp;
    this.#open.set(name, this.steps.length);
    this.steps.push({ id: String(seq), turn, from: at, to: undefined, begun: event, ...said });
  }

  /** Whether it had begun. */
  #end(event: RunEvent, name: string, said: Partial<Step>): boolean {
    const place = this.#open.get(name);
    const step = place === undefined ? undefined : this.steps[place];
    if (place === undefined || step === undefined) return false;
    this.#open.delete(name);
    this.steps[place] = { ...step, to: event.stamp.at, ended: event, ...said };
    return true;
  }
}

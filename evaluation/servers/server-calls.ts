/**
 * What a server of a case answers to calls of its tools.
 * Invariants: one result of the script for each call that arrives, in order; then the last `ok` repeats. A tool with a record
 * answers what the record has of the call, and refuses the rest.
 */
import type { Json } from '../../core/json/json.js';
import { resultOf, type CaseTool } from '../fixture.js';
import type { ScriptedResult } from '../script.js';
import { NOT_RECORDED, RecordedAnswers } from '../scripted/recorded.js';
import type { CaseServer } from '../server-case.js';
import {
  asking,
  ended,
  failureWith,
  INTERNAL,
  json,
  PARAMS_REFUSED,
  raw,
  refusal,
  requestsOf,
  resultWith,
  stream,
  type Message,
} from './messages.js';

const TOO_MANY = 429;

/** The call of the run in which a request is made. */
export interface Caller {
  readonly callId: string;
  /** Where the run stands whose record answers it; undefined: there is none. */
  readonly place: string | undefined;
  /** The record of the tool has no answer to this. */
  unrecorded(input: Json): void;
  /** Waits as the script says: a delay, or for ever until the call is stopped. */
  wait(result: ScriptedResult): Promise<void>;
  /** It has done what it does. */
  happen(): void;
  die(): Promise<never>;
}

interface Called {
  readonly id: Message['id'];
  readonly params: NonNullable<Message['params']>;
  readonly input: Json;
}

type Asking = Extract<ScriptedResult, { kind: 'input_required' }>;

export class ServerCalls {
  private readonly answered = new Map<string, number>();
  private readonly recorded = new Map<string, RecordedAnswers>();
  /** Questions of the old protocol that are open, by the ids of their messages. */
  private readonly open = new Map<string, (result: unknown) => void>();
  private asked = 0;

  constructor(
    private readonly protocol: CaseServer['protocol'],
    private readonly caller: () => Caller,
  ) {}

  /** A client has answered a question. */
  told({ id, result }: Message): void {
    this.open.get(String(id))?.(result);
  }

  async answer(tool: CaseTool, call: Called): Promise<Response> {
    const caller = this.caller();
    const result = this.next(tool, caller, call.input);
    if (result !== undefined) await caller.wait(result);
    const { id } = call;
    switch (result?.kind) {
      case undefined:
        caller.happen();
        return this.done(id, resultWith({ echo: call.input }));
      case 'ok':
        caller.happen();
        return this.withNotes(call, result.notes ?? [], resultWith(result.value));
      case 'unfit':
        caller.happen();
        return this.done(id, resultWith(result.value));
      case 'error':
        return this.done(id, failureWith(result.message));
      case 'throws':
        return refusal(id, INTERNAL, result.message);
      case 'refused':
        return refusal(id, PARAMS_REFUSED, result.message);
      case 'retryable_error':
        return raw(result.reason, TOO_MANY);
      case 'malformed':
        return malformed(id, result.result);
      case 'oversized':
        caller.happen();
        return this.done(id, resultWith('x'.repeat(result.chars)));
      case 'input_required':
        return this.ask(tool, result, call);
      case 'lost':
        if (result.when === 'after') caller.happen();
        return caller.die();
      case 'timeout':
      case 'hang':
        throw new Error('nobody waits for this any more');
    }
  }

  private next(tool: CaseTool, caller: Caller, input: Json): ScriptedResult | undefined {
    if (tool.recorded !== undefined) return this.fromRecord(tool, caller, input);
    const index = this.answered.get(tool.name) ?? 0;
    this.answered.set(tool.name, index + 1);
    return resultOf(tool, index);
  }

  private fromRecord(tool: CaseTool, caller: Caller, input: Json): ScriptedResult {
    const { name, recorded = [] } = tool;
    const answers = this.recorded.get(name) ?? new RecordedAnswers(name, recorded);
    this.recorded.set(name, answers);
    const result = answers.resultOf(caller.callId, input, caller.place);
    if (result.kind === 'error' && result.code === NOT_RECORDED) caller.unrecorded(input);
    return result;
  }

  private done(id: Message['id'], body: object): Response {
    return json(id, { result: { ...body, ...ended(this.protocol) } });
  }

  private withNotes({ id, params }: Called, notes: readonly string[], body: object): Response {
    const meta = params['_meta'] as { readonly progressToken?: unknown } | undefined;
    const token = meta?.progressToken;
    if (notes.length === 0 || token === undefined) return this.done(id, body);
    const told = notes.map((message, index) => ({
      method: 'notifications/progress',
      params: { progressToken: token, progress: index + 1, message },
    }));
    return stream([...told, { id, result: { ...body, ...ended(this.protocol) } }]);
  }

  private ask(tool: CaseTool, asked: Asking, call: Called): Response {
    return this.protocol === 'modern'
      ? json(call.id, { result: asking(asked) })
      : stream(this.askBetween(tool, asked, call));
  }

  /** The old protocol asks while the call goes on; when all is answered, the next result is that of the call. */
  private async *askBetween(
    tool: CaseTool,
    { questions }: Asking,
    call: Called,
  ): AsyncGenerator<object> {
    let isAnswered = true;
    for (const request of Object.values(requestsOf(questions))) {
      this.asked += 1;
      const id = `question-${this.asked}`;
      const answer = new Promise((resolve) => this.open.set(id, resolve));
      yield { id, ...request };
      isAnswered &&= ((await answer) as { readonly action?: unknown }).action !== 'cancel';
    }
    const response = isAnswered
      ? await this.answer(tool, call)
      : this.done(call.id, failureWith('The question was left without an answer.'));
    yield (await response.json()) as object;
  }
}

/** A text is in the place of the whole message. */
function malformed(id: Message['id'], result: Json): Response {
  return typeof result === 'string' ? raw(result) : json(id, { result });
}

/**
 * A server of a case. The client of connectors speaks to it as to any other: what it is sent are requests of HTTP, and what it
 * answers are responses.
 * Invariant: one result of the script for each call that arrives, in order; then the last `ok` repeats.
 */
import type { Json } from '../../core/json/json.js';
import type { Fetch } from '../../connectors/index.js';
import type { SeenServerCall } from '../engine.js';
import { resultOf, type CaseServer, type CaseTool, type ServerChange } from '../fixture.js';
import type { ScriptedResult } from '../script.js';
import {
  asking,
  ended,
  failureWith,
  INTERNAL,
  introduction,
  json,
  METHOD_UNKNOWN,
  PARAMS_REFUSED,
  raw,
  requestsOf,
  resultWith,
  stream,
  type Message,
} from './messages.js';

const ACCEPTED = 202;
const NO_STREAM = 405;
const TOO_MANY = 429;
const UNCONNECTED = 'ECONNREFUSED';

/** The call of the run in which a request is made. */
export interface Caller {
  /** Waits as the script says: a delay, or for ever until the call is stopped. */
  wait(result: ScriptedResult): Promise<void>;
  /** It has done what it does. */
  happen(): void;
  die(): Promise<never>;
}

export interface ServerDouble {
  readonly fetch: Fetch;
  readonly calls: readonly SeenServerCall[];
  change(change: ServerChange): void;
}

interface Told {
  readonly description: string;
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
}

export function serverDouble(
  server: CaseServer,
  tools: readonly CaseTool[],
  around: {
    /** Who makes the request that is being served. */
    readonly caller: () => Caller;
    /** Waits until the request is given up. */
    readonly forEver: (signal: AbortSignal | null | undefined) => Promise<never>;
  },
): ServerDouble {
  const { protocol } = server;
  let { is } = server;
  const byName = new Map(tools.map((tool) => [tool.served!.tool, tool]));
  const told = new Map<string, Told>(tools.map((tool) => [tool.served!.tool, toldOf(tool)]));
  const answered = new Map<string, number>();
  const calls: SeenServerCall[] = [];
  /** Answers to questions in the middle of a call, by the id of the question (legacy). */
  const open = new Map<string, (result: unknown) => void>();

  function next(tool: CaseTool): ScriptedResult | undefined {
    const index = answered.get(tool.name) ?? 0;
    answered.set(tool.name, index + 1);
    return resultOf(tool, index);
  }

  async function callTool({ id, params = {} }: Message): Promise<Response> {
    const { name, arguments: input = {}, inputResponses, requestState } = params;
    const tool = told.has(String(name)) ? byName.get(String(name)) : undefined;
    if (tool === undefined) return refusal(id, PARAMS_REFUSED, `There is no tool ${String(name)}.`);
    calls.push({
      tool: String(name),
      input: input as Json,
      ...(inputResponses !== undefined && { answers: inputResponses as Json }),
      ...(typeof requestState === 'string' && { state: requestState }),
    });
    const call = { id, params, input: input as Json };
    return answer(tool, next(tool), call);
  }

  interface Called {
    readonly id: Message['id'];
    readonly params: NonNullable<Message['params']>;
    readonly input: Json;
  }

  async function answer(
    tool: CaseTool,
    result: ScriptedResult | undefined,
    call: Called,
  ): Promise<Response> {
    const caller = around.caller();
    const { id } = call;
    if (result !== undefined) await caller.wait(result);
    const done = (body: object): Response => json(id, { result: { ...body, ...ended(protocol) } });
    switch (result?.kind) {
      case undefined:
        caller.happen();
        return done(resultWith({ echo: call.input }));
      case 'ok':
        caller.happen();
        return withNotes(call, result.notes ?? [], resultWith(result.value));
      case 'error':
        return done(failureWith(result.message));
      case 'throws':
        return refusal(id, INTERNAL, result.message);
      case 'refused':
        return refusal(id, PARAMS_REFUSED, result.message);
      case 'retryable_error':
        return raw(result.reason, TOO_MANY);
      case 'malformed':
        return typeof result.result === 'string'
          ? raw(result.result)
          : json(id, { result: result.result });
      case 'oversized':
        caller.happen();
        return done(resultWith('x'.repeat(result.chars)));
      case 'input_required':
        return protocol === 'modern'
          ? json(id, { result: { ...ended(protocol), ...asking(result) } })
          : asked(tool, result, call);
      case 'lost':
        if (result.when === 'after') caller.happen();
        return caller.die();
      case 'timeout':
      case 'hang':
        throw new Error('nobody waits any more');
    }
  }

  function withNotes({ id, params }: Called, notes: readonly string[], body: object): Response {
    const result = { ...body, ...ended(protocol) };
    const token = (params['_meta'] as { progressToken?: unknown } | undefined)?.progressToken;
    if (notes.length === 0 || token === undefined) return json(id, { result });
    async function* messages(): AsyncGenerator<object> {
      for (const [index, message] of notes.entries()) {
        const params = { progressToken: token, progress: index + 1, message };
        yield { method: 'notifications/progress', params };
      }
      yield { id, result };
    }
    return stream(messages());
  }

  /** The protocol before 2026 asks while the call goes on; what follows answers the call when all questions are. */
  function asked(
    tool: CaseTool,
    { questions }: Extract<ScriptedResult, { kind: 'input_required' }>,
    call: Called,
  ): Response {
    async function* messages(): AsyncGenerator<object> {
      const answers: unknown[] = [];
      for (const [key, request] of Object.entries(requestsOf(questions))) {
        const id = `${String(call.id)}-${key}-${calls.length}`;
        const given = new Promise<unknown>((resolve) => open.set(id, resolve));
        yield { id, ...request };
        answers.push(await given);
      }
      const isAnswered = answers.every((one) => (one as { action?: unknown }).action !== 'cancel');
      const response = isAnswered
        ? await answer(tool, next(tool), call)
        : json(call.id, { result: failureWith('Nobody answered the question.') });
      yield (await response.json()) as object;
    }
    return stream(messages());
  }

  async function serve(message: Message, signal: AbortSignal | null | undefined) {
    const { id, method } = message;
    if (method === undefined) {
      open.get(String(id))?.(message.result);
      return new Response(null, { status: ACCEPTED });
    }
    if (id === undefined) return new Response(null, { status: ACCEPTED });
    if (is === 'hanging') return around.forEver(signal);
    const introduced = introduction(server, method);
    if (introduced !== undefined) return json(id, { result: introduced });
    if (method === 'tools/list') {
      const list = [...told].map(([name, of]) => ({ name, ...of }));
      return json(id, { result: { tools: list, ...ended(protocol) } });
    }
    if (method === 'tools/call') return callTool(message);
    return refusal(id, METHOD_UNKNOWN, 'Method not found');
  }

  return {
    calls,
    async fetch(_, init) {
      if (is === 'down') {
        const cause = Object.assign(new Error('connection refused'), { code: UNCONNECTED });
        throw new TypeError('fetch failed', { cause });
      }
      if (init?.method !== 'POST') return new Response(null, { status: NO_STREAM });
      const message = JSON.parse(String(init.body)) as Message;
      return withinSignal(serve(message, init.signal), init.signal);
    },
    change({ is: now, tools: changed = {} }) {
      if (now !== undefined) is = now;
      for (const [name, change] of Object.entries(changed)) {
        const tool = [...byName].find(([, one]) => one.name === name);
        if (tool === undefined) continue;
        if (change === null) told.delete(tool[0]);
        else told.set(tool[0], { ...toldOf(tool[1]), ...told.get(tool[0]), ...(change as Told) });
      }
    },
  };
}

function refusal(id: Message['id'], code: number, message: string): Response {
  return json(id, { error: { code, message } });
}

function toldOf({ description, inputSchema, outputSchema, served }: CaseTool): Told {
  return {
    description,
    inputSchema: inputSchema as Json,
    ...(outputSchema !== undefined && { outputSchema: outputSchema as Json }),
    ...(served?.annotations !== undefined && { annotations: served.annotations }),
  };
}

/** As HTTP does it: whoever gives a request up hears nothing of it any more. */
function withinSignal(
  work: Promise<Response>,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  if (signal === null || signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void work
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}


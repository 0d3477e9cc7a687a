/**
 * A query whose answer has the type of a schema.
 * Invariant: the run is asked for what the schema says as JSON Schema; what only the schema's own checks say is checked
 * here, when the result arrives.
 */
import { answerOf, type AnswerSchema } from '../../authoring/output-schema.js';
import type { InputDeclaration, InputOf } from '../../authoring/index.js';
import type { RunResult } from '../../core/state/result.js';
import type { SDKMessage, SDKResultSuccess } from '../../pure/sdk/message.js';
import { checkParameters, refused } from './check-query.js';
import type { QueryRequest } from './options.js';
import { openQuery, type Query } from './query.js';
import type { QueryPlace } from './query-life.js';

/** A request with a schema of the answer: zod, another library by Standard Schema, or JSON Schema. */
export type WithOutput<Request, Schema extends InputDeclaration> = Request & {
  readonly output: Schema;
};

export type TypedSuccess<Output> = Omit<SDKResultSuccess, 'structured_output'> & {
  /** Absent: the run completed without an answer of its own, such as one that handed its task over. */
  readonly structured_output?: Output;
};

export type TypedMessage<Output> = Exclude<SDKMessage, SDKResultSuccess> | TypedSuccess<Output>;

export type TypedResult<Output> = Omit<RunResult, 'output'> & { readonly output?: Output };

export interface TypedQuery<Output>
  extends
    AsyncGenerator<TypedMessage<Output>, void, undefined>,
    Omit<Query, keyof AsyncGenerator | 'result'> {
  /** As that of any query. Errors: MalformedResult for an answer that only the schema's own checks refuse. */
  result(): Promise<TypedResult<Output>>;
}

/** Opens queries; one with an `output` is typed by it. */
export interface OpenQuery {
  <Schema extends InputDeclaration>(
    request: WithOutput<QueryRequest, Schema>,
  ): TypedQuery<InputOf<Schema>>;
  (request: QueryRequest): Query;
}

export function queriesOver(open: () => Promise<QueryPlace>): OpenQuery {
  function opened<Schema extends InputDeclaration>(
    request: WithOutput<QueryRequest, Schema>,
  ): TypedQuery<InputOf<Schema>>;
  function opened(request: QueryRequest): Query;
  function opened(request: QueryRequest & { readonly output?: InputDeclaration }) {
    checkParameters(request);
    const { output, ...untyped } = request;
    if (output === undefined) return openQuery(open, untyped as QueryRequest);
    const answer = answerOf(output);
    return typedQuery(openQuery(open, asking(untyped as QueryRequest, answer)), answer);
  }
  return opened;
}

/** Of a run that exists its start has said what is asked for. */
function asking(request: QueryRequest, { jsonSchema }: AnswerSchema<unknown>): QueryRequest {
  if ('runId' in request) return request;
  const { options } = request;
  if (options?.outputFormat !== undefined) {
    throw refused('output', 'options.outputFormat says the same', 'Give one of the two.');
  }
  const outputFormat = { type: 'json_schema', schema: jsonSchema } as const;
  return { ...request, options: { ...options, outputFormat } };
}

function typedQuery<Output>(query: Query, answer: AnswerSchema<Output>): TypedQuery<Output> {
  const typed: TypedQuery<Output> = {
    ...query,
    async next() {
      const { done, value } = await query.next();
      if (done === true) return { done, value: undefined };
      try {
        return { done: false, value: typedMessage(value, answer) };
      } catch (error) {
        // As any error of a generator: nothing is left behind.
        await query.return();
        throw error;
      }
    },
    async return() {
      await query.return();
      return { done: true, value: undefined };
    },
    async throw(error: unknown) {
      await query.return();
      throw error;
    },
    async result() {
      const { output, ...result } = await query.result();
      return { ...result, ...(output !== undefined && { output: answer.typed(output) }) };
    },
    [Symbol.asyncIterator]: () => typed,
  };
  return typed;
}

function typedMessage<Output>(
  message: SDKMessage,
  answer: AnswerSchema<Output>,
): TypedMessage<Output> {
  if (message.type !== 'result' || message.subtype !== 'success') return message;
  const { structured_output: output, ...success } = message;
  return {
    ...success,
    ...(output !== undefined && { structured_output: answer.typed(output) }),
  };
}

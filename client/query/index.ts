/** `query()` and `runOrThrow()`: a run as a stream of messages, and as one awaited result. */
import type { InputDeclaration, InputOf } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { SDKResultSuccess } from '../../pure/sdk/message.js';
import { checkConnect, openLink, type ConnectOptions, type HoldfastClient } from '../connect.js';
import { LoopError } from './loop-error.js';
import { checkParameters, refused } from './check-query.js';
import type { FollowQueryOptions, FollowQuery, QueryOptions, StartQuery } from './options.js';
import type { Query } from './query.js';
import {
  queriesOver,
  type TypedQuery,
  type TypedSuccess,
  type WithOutput,
} from './typed-output.js';

/** Over which connection: one that stays open, or one of the query's own. */
export type Via =
  | { readonly client: HoldfastClient; readonly connection?: undefined }
  | { readonly connection: ConnectOptions; readonly client?: undefined };

/** A prompt and options, as the agent SDKs have them. */
export type QueryParameters =
  | StartQuery<QueryOptions & Via>
  | (FollowQuery<FollowQueryOptions & Via> & { readonly options: Via });

/**
 * Starts a run when its first message is asked for, or goes on reading one by its id. With `output` (zod, another library
 * by Standard Schema, or JSON Schema) the run answers with what fits, and the result has its type.
 * Errors, from the generator: what `HoldfastClient.start` says; StoreUnavailable without a store; what a
 * callback threw; DecisionRejected; MalformedResult for an answer that only the checks of `output` itself refuse.
 */
export function query<Schema extends InputDeclaration>(
  parameters: WithOutput<QueryParameters, Schema>,
): TypedQuery<InputOf<Schema>>;
export function query(parameters: QueryParameters): Query;
export function query(parameters: QueryParameters): Query {
  checkParameters(parameters);
  const { options, ...request } = parameters;
  const { client, connection, ...rest } = options ?? {};
  const own = { ...request, options: rest } as StartQuery | FollowQuery;
  if (client !== undefined) {
    if (typeof client?.query === 'function') return client.query(own);
    throw refused('options.client', 'it must be what connect() gives');
  }
  if (connection === undefined) {
    throw new HoldfastError('InvalidTask', 'The query says no client and no connection.', {
      hint: 'Give options.client, from connect({ address, store }), or options.connection.',
    });
  }
  if (typeof connection !== 'object' || connection === null) {
    throw refused('options.connection', 'it must be an object as connect() takes it');
  }
  checkConnect(connection);
  return queriesOver(async () => {
    const { link, close } = await openLink(connection);
    return { link, release: close };
  })(own);
}

/** The last message of a run that completed. Errors: LoopError for one that stopped otherwise; as `query`. */
export async function runOrThrow<Schema extends InputDeclaration>(
  parameters: WithOutput<QueryParameters, Schema>,
): Promise<TypedSuccess<InputOf<Schema>>>;
export async function runOrThrow(parameters: QueryParameters): Promise<SDKResultSuccess>;
export async function runOrThrow(parameters: QueryParameters): Promise<SDKResultSuccess> {
  for await (const message of query(parameters)) {
    if (message.type !== 'result') continue;
    if (message.subtype === 'success') return message;
    throw new LoopError(message);
  }
  throw new HoldfastError('Aborted', 'The query was left before its run had ended.');
}

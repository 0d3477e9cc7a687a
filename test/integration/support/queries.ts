/** Queries in a world: asking, and what their messages say. */
import {
  query,
  type FollowQueryOptions,
  type Query,
  type QueryOptions,
  type UserPrompt,
} from '../../../client/index.js';
import type { SDKMessage, SDKResultMessage } from '../../../pure/sdk/message.js';
import { AGENT, APPROVER } from './agents.js';
import type { World } from './world.js';

export type Replies = Parameters<World['script']>[1];

export interface QueryOfTest extends Partial<QueryOptions> {
  readonly runId: string;
  readonly replies: Replies;
  readonly prompt?: string | AsyncIterable<UserPrompt>;
}

export function ask(
  world: World,
  { replies, prompt = 'Serve the customer.', ...options }: QueryOfTest,
): Query {
  world.script(options.runId, replies);
  const { client } = world;
  return query({ prompt, options: { agent: AGENT, decider: APPROVER, client, ...options } });
}

/** The same run again. */
export function follow(
  { client }: World,
  runId: string,
  {
    afterSeq,
    afterCursor,
    ...options
  }: FollowQueryOptions & { readonly afterSeq?: number; readonly afterCursor?: string } = {},
): Query {
  const after = {
    ...(afterSeq !== undefined && { afterSeq }),
    ...(afterCursor !== undefined && { afterCursor }),
  };
  return query({ runId, ...after, options: { decider: APPROVER, client, ...options } });
}

export async function all(messages: AsyncIterable<SDKMessage>): Promise<readonly SDKMessage[]> {
  const read: SDKMessage[] = [];
  for await (const message of messages) read.push(message);
  return read;
}

export const words = (message: SDKMessage): string =>
  'subtype' in message ? `${message.type}/${message.subtype}` : message.type;

export function resultOf(messages: readonly SDKMessage[]): SDKResultMessage {
  const last = messages.at(-1);
  if (last?.type !== 'result') throw new Error(`the last message is ${JSON.stringify(last)}`);
  return last;
}

export function statuses(messages: readonly SDKMessage[]) {
  return messages.flatMap((message) =>
    message.type === 'system' && message.subtype === 'status'
      ? [`${message.event} ${message.outcome ?? message.status}`]
      : [],
  );
}

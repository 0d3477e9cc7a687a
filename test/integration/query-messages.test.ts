/** What a query makes of large replies, of answers with a schema, and of messages that come twice. */
import { z } from 'zod';
import { query, type UserPrompt } from '../../client/index.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import { AGENT, APPROVER } from './support/agents.js';
import { all, ask as askIn, resultOf, type QueryOfTest } from './support/queries.js';
import { read, say, startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const ask = (asked: QueryOfTest) => askIn(world, asked);

function contentOf(message: SDKMessage): readonly { readonly [name: string]: unknown }[] {
  const { content } = (message as { message: { content: unknown } }).message;
  return content as readonly { readonly [name: string]: unknown }[];
}

test('a query gives whole replies, however many and large their calls are', async () => {
  const inputs = Array.from({ length: 60 }, (_, index) => ({
    item: `${index} ${'x'.repeat(500)}`,
  }));
  const calls = inputs.map((input) => ({ tool: 'facts.read', input }));
  const messages = await all(ask({ runId: 'eager', replies: [{ calls }, say('Blue.')] }));
  const [reply] = messages.filter(({ type }) => type === 'assistant');
  const [results] = messages.filter(({ type }) => type === 'user');
  const uses = contentOf(reply!);
  expect(uses.map(({ input }) => input)).toEqual(inputs);
  expect(contentOf(results!).map(({ tool_use_id }) => tool_use_id)).toEqual(
    uses.map(({ id }) => id),
  );
  expect(contentOf(results!).map(({ is_error }) => is_error)).toEqual(
    inputs.map((_, index) => index >= 48),
  );
});

const colours = z.object({
  colour: z.enum(['blue', 'red']),
  cups: z.number().refine((cups) => cups < 10, 'nobody has so many cups'),
  note: z.string().default('none'),
});
const typed = (runId: string, answer: object) => {
  world.script(runId, [read('cup'), say(JSON.stringify(answer))]);
  const options = { agent: AGENT, decider: APPROVER, client: world.client, runId };
  return query({ prompt: 'Which colour?', output: colours, options });
};

test('a query with an output gives the answer with the type of its schema', async () => {
  const asked = typed('typed', { colour: 'blue', cups: 2 });
  for await (const message of asked) {
    if (message.type !== 'result' || message.subtype !== 'success') continue;
    const note: string | undefined = message.structured_output?.note;
    expect([message.structured_output?.colour, note]).toEqual(['blue', 'none']);
  }
  expect((await asked.result()).output).toEqual({ colour: 'blue', cups: 2, note: 'none' });
  expect(world.requests('typed')[0]?.body).toContain('colour');
});

test('a query with an output tells an answer that only the checks of the schema refuse', async () => {
  const asked = typed('untyped', { colour: 'red', cups: 12 });
  const failed = await all(asked as AsyncIterable<SDKMessage>).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 'MalformedResult',
    message: expect.stringContaining('nobody has so many cups'),
  });
});

test('a message whose id came before is skipped, also by a process that comes later', async () => {
  const told = (uuid: string, content: string): UserPrompt => ({
    type: 'user',
    uuid,
    message: { role: 'user', content },
  });
  const users = (messages: readonly SDKMessage[]) =>
    messages.flatMap((message) => (message.type === 'user' ? [message.message.content] : []));
  async function* prompt(): AsyncGenerator<UserPrompt> {
    yield told('u1', 'first');
    yield told('u1', 'first again');
    yield told('u2', 'second');
    yield told('u2', 'second again');
    yield 'third';
    await new Promise(() => undefined);
  }
  const replies = ['one', 'two', 'three', 'four'].map((text) => say(text));
  const seen: SDKMessage[] = [];
  for await (const message of ask({ runId: 'repeats', replies, prompt: prompt() })) {
    seen.push(message);
    if (JSON.stringify(message).includes('three')) break;
  }
  expect(users(seen)).toEqual(['second', 'third']);
  async function* later(): AsyncGenerator<UserPrompt> {
    yield told('u2', 'second, of another process');
    yield 'fourth';
  }
  const options = { client: world.client };
  const afterSeq = seen.at(-1)!.seq;
  const rest = await all(query({ runId: 'repeats', afterSeq, prompt: later(), options }));
  expect(users(rest)).toEqual(['fourth']);
  expect(resultOf(rest)).toMatchObject({ result: 'four', run_result: { detail: 'closed' } });
});

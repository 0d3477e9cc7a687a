/** What a request must say. */
import assert from 'node:assert/strict';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import {
  failureOf,
  withSession,
  type ProviderCheck,
  type ProviderUnderTest,
  type Session,
} from './subject.js';
import { entriesOf } from './wire-conversation.js';

const TOOLS: readonly ToolOffer[] = ['orders.read', 'orders.cancel'].map((name) => ({
  name,
  version: '1',
  wireName: name.replace('.', '__'),
  description: `${name}!`,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
}));

const said = (text: string): Block => ({ type: 'text', text });
const use = (id: string): Block => ({ type: 'tool_use', id, tool: 'orders__read', args: { id } });
const result = (id: string, isError: boolean, text: string): Block => ({
  type: 'tool_result',
  id,
  isError,
  text,
});

const CONVERSATION: readonly RequestMessage[] = [
  { role: 'user', blocks: [said('Where are my orders?')] },
  { role: 'assistant', blocks: [said('Two calls.'), use('c1'), use('c2')] },
  {
    role: 'user',
    blocks: [
      said('And quickly.'),
      result('c1', false, 'sent'),
      result('c2', true, 'no such order'),
    ],
  },
  { role: 'assistant', blocks: [use('c3')] },
  { role: 'user', blocks: [result('c3', false, '{"state":"sent","at":"世界"}')] },
];

export function requestChecks(subject: ProviderUnderTest): readonly ProviderCheck[] {
  const check = (name: string, holds: (session: Session) => Promise<void>): ProviderCheck => ({
    name,
    run: () =>
      withSession(
        subject,
        {
          replies: [
            { text: 'one' },
            { calls: [{ tool: 'orders.read', input: {} }] },
            { text: 'x' },
          ],
        },
        holds,
      ),
  });
  const read = ({ model }: Session) =>
    subject.readConversation(model.requests().at(-1)?.body ?? '');
  return [
    check('ids, order, error flags and texts beside results survive the wire', async (session) => {
      await session.ask({ messages: CONVERSATION, tools: TOOLS });
      assert.deepEqual(read(session), entriesOf(CONVERSATION));
    }),
    check('an id of another vendor stays the same in call and result', async (session) => {
      const long = `call-${'x'.repeat(120)}`;
      const messages: readonly RequestMessage[] = [
        { role: 'user', blocks: [said('Hi')] },
        { role: 'assistant', blocks: [use(long)] },
        { role: 'user', blocks: [result(long, false, 'ok')] },
      ];
      await session.ask({ messages, tools: TOOLS });
      const [, call, answer] = read(session);
      assert(call !== undefined && 'calls' in call && answer !== undefined && 'resultOf' in answer);
      assert.equal(call.calls, answer.resultOf);
    }),
    check('a request carries the model, its limit and the tools by wire name', async (session) => {
      await session.ask({ tools: TOOLS, maxTokens: 77 });
      const body = session.model.requests().at(-1)?.body ?? '';
      assert.equal(session.model.requests().at(-1)?.model, 'scripted-model');
      for (const part of ['Be brief.', '77', 'orders__read', 'orders__cancel']) {
        assert(body.includes(part), `the body has ${part}`);
      }
      assert(!body.includes('orders.read"'), 'no registry name on the wire');
    }),
    check('what is empty is not sent, and nothing at all is an error', async (session) => {
      const failure = await failureOf(
        session.ask({ messages: [{ role: 'user', blocks: [said(' ')] }] }),
      );
      assert.equal(failure.code, 'InvalidRequest');
      assert.equal(session.model.requests().length, 0);
    }),
    check('text with lone surrogates can be sent', async (session) => {
      await session.ask({ messages: [{ role: 'user', blocks: [said('a\ud800b')] }] });
      assert.deepEqual(read(session), [{ says: 'user', text: 'a\uFFFDb' }]);
    }),
    check('a reply goes back to its model and, rebuilt, to another', goesBack),
  ];
}

/** As the loop does it: what came is part of the next request. */
async function goesBack(session: Session): Promise<void> {
  const messages: RequestMessage[] = [{ role: 'user', blocks: [said('Hi')] }];
  const first = await session.ask({ messages, tools: TOOLS });
  messages.push(answer(first), { role: 'user', blocks: [said('Go on.')] });
  const second = await session.ask({ messages, tools: TOOLS });
  const [call] = second.blocks;
  assert(call?.type === 'tool_use');
  messages.push(answer(second), { role: 'user', blocks: [result(call.id, false, 'ok')] });
  const again: Partial<ModelRequest> = { messages, tools: TOOLS };
  assert.deepEqual((await session.ask(again)).blocks, [said('x')]);
  const other = await session.ask({ ...again, model: 'another-model' });
  assert.deepEqual(other.blocks, [said('x')]);
  assert.equal(session.model.exhausted(), 0);
}

function answer({ blocks, raw, model }: Awaited<ReturnType<Session['ask']>>): RequestMessage {
  return { role: 'assistant', blocks, raw, rawModel: model };
}

/** Any conversation, through any provider's request and back: the same. */
import fc from 'fast-check';
import type { Json } from '../../core/json/json.js';
import type { Block } from '../../core/state/transcript.js';
import { anthropicBody } from '../../providers/anthropic/request.js';
import { chatBody } from '../../providers/openai/chat-request.js';
import { responsesRequest } from '../../providers/openai/responses-request.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import { entriesOf } from '../../testing/conformance/wire-conversation.js';
import {
  readChatBody,
  readMessagesBody,
  readResponsesBody,
  type WireEntry,
} from '../../testing/conformance/index.js';
import { requestOf } from './scripted-setup.js';

interface Wire {
  readonly write: (request: ModelRequest) => object;
  readonly read: (body: string) => readonly WireEntry[];
}

const WIRES: readonly (readonly [string, Wire])[] = [
  ['anthropic', { write: anthropicBody, read: readMessagesBody }],
  ['openai-chat', { write: (request) => chatBody(request, 'openai'), read: readChatBody }],
  [
    'openai-chat through a gateway',
    { write: (request) => chatBody(request, 'litellm'), read: readChatBody },
  ],
  [
    'openai-responses',
    {
      write: (request) => responsesRequest(request, { stored: false, known: () => false }).body,
      read: readResponsesBody,
    },
  ],
];

const words = fc
  .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
  // A result that says itself that it is an error is one, where there is no flag.
  .filter((text) => text.trim() !== '' && !text.startsWith('{'));
const args: fc.Arbitrary<Json> = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null), fc.array(words, { maxLength: 3 })),
  { maxKeys: 3, noNullPrototype: true },
) as fc.Arbitrary<Json>;
const turn = fc.record({
  said: fc.option(words, { nil: undefined }),
  calls: fc.array(fc.record({ args, isError: fc.boolean(), result: words }), { maxLength: 3 }),
  beside: fc.array(words, { maxLength: 2 }),
});

const conversation = fc.array(turn, { maxLength: 5 }).map((turns): readonly RequestMessage[] => [
  { role: 'user', blocks: [{ type: 'text', text: 'Begin.' }] },
  ...turns.flatMap(({ said, calls, beside }, step): RequestMessage[] => {
    const id = (index: number) => `call_${step}_${index}`;
    const text = said ?? (calls.length === 0 ? 'Well.' : undefined);
    const uses = calls.map((call, at): Block => ({
      type: 'tool_use',
      id: id(at),
      tool: 'a__b',
      args: call.args,
    }));
    const results = calls.map(({ isError, result }, at): Block => ({
      type: 'tool_result',
      id: id(at),
      isError,
      text: result,
    }));
    const texts = beside.map((each): Block => ({ type: 'text', text: each }));
    const others = results.length + texts.length === 0 ? [{ type: 'text', text: 'Go on.' }] : [];
    return [
      { role: 'assistant', blocks: [...(text === undefined ? [] : [textBlock(text)]), ...uses] },
      // Texts before their results: they must come out after them.
      { role: 'user', blocks: [...texts, ...results, ...(others as Block[])] },
    ];
  }),
]);

function textBlock(text: string): Block {
  return { type: 'text', text };
}

test.each(WIRES)('every conversation survives the wire of %s', (_, { write, read }) => {
  fc.assert(
    fc.property(conversation, (messages) => {
      const body = JSON.stringify(write(requestOf({ messages })));
      expect(read(body)).toEqual(entriesOf(messages));
    }),
    { numRuns: 150 },
  );
});

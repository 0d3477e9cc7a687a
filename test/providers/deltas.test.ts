/** What readers see while a reply comes is what the reply is, for every vendor. */
import type { ModelDelta } from '../../pure/stream.js';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { createOpenAiChatProvider } from '../../providers/openai-chat.js';
import { createOpenAiResponsesProvider } from '../../providers/openai-responses.js';
import type { ModelReply, Provider } from '../../providers/provider.js';
import { scriptOf, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import { requestOf } from './scripted-setup.js';

const VENDORS: readonly (readonly [string, (model: ScriptedModel) => Provider])[] = [
  ['anthropic', ({ baseUrl }) => createAnthropicProvider({ apiKey: 'k', baseUrl })],
  [
    'openai-chat',
    ({ baseUrl }) => createOpenAiChatProvider({ apiKey: 'k', baseUrl: `${baseUrl}/v1` }),
  ],
  [
    'openai-responses',
    ({ baseUrl }) => createOpenAiResponsesProvider({ apiKey: 'k', baseUrl: `${baseUrl}/v1` }),
  ],
];

interface Shown {
  readonly reply: ModelReply;
  readonly deltas: readonly ModelDelta[];
}

async function shown(
  provider: (model: ScriptedModel) => Provider,
  answer: ScriptedAnswer,
): Promise<Shown> {
  const model = await startScriptedModel({ script: scriptOf([answer]) });
  const deltas: ModelDelta[] = [];
  try {
    const reply = await provider(model).complete(requestOf(), {
      signal: new AbortController().signal,
      onProgress: () => undefined,
      onDelta: (delta) => void deltas.push(delta),
    });
    return { reply, deltas };
  } finally {
    await model.stop();
  }
}

/** Blocks as the deltas put them together. */
function blocksOf(deltas: readonly ModelDelta[]) {
  const blocks = new Map<number, { type: string; text: string; tool?: string; id?: string }>();
  for (const { block, ...delta } of deltas) {
    const before = blocks.get(block);
    blocks.set(block, { ...before, ...delta, text: (before?.text ?? '') + delta.text });
  }
  return [...blocks.values()];
}

describe.each(VENDORS)('%s', (_name, provider) => {
  test('shows text and calls in pieces that make up the reply', async () => {
    const { reply, deltas } = await shown(provider, {
      text: 'Ich schaue nach: 😀 done.',
      calls: [
        { id: 'c1', tool: 'look', input: { order: 'A 1', deep: { ü: [1, 2] } } },
        { id: 'c2', tool: 'pay', input: { cents: 5 } },
      ],
      chunks: 6,
    });
    expect(deltas.length).toBeGreaterThan(12);
    const blocks = blocksOf(deltas).map(({ type, text, tool, id }) =>
      type === 'tool_use' ? { type, id, tool, args: JSON.parse(text) as unknown } : { type, text },
    );
    expect(blocks).toEqual(reply.blocks);
  });

  test('numbers blocks in the order in which they begin', async () => {
    const calls = ['a', 'b', 'c'].map((tool) => ({ tool, input: { tool } }));
    const { deltas } = await shown(provider, { text: 'Three.', calls, chunks: 2 });
    const begun = [...new Set(deltas.map(({ block }) => block))];
    expect(begun).toEqual([0, 1, 2, 3]);
  });
});

test('thinking is shown as such', async () => {
  const [, anthropic] = VENDORS[0]!;
  const { deltas } = await shown(anthropic, {
    thinking: 'Hm, let me see.',
    text: 'Yes.',
    chunks: 3,
  });
  expect(blocksOf(deltas)).toEqual([
    { type: 'thinking', text: 'Hm, let me see.' },
    { type: 'text', text: 'Yes.' },
  ]);
});

test('a call whose arguments are broken is shown as it comes', async () => {
  const [, anthropic] = VENDORS[0]!;
  const calls = [{ id: 'c1', tool: 'look', rawInput: '{"order": "A' }];
  const { deltas } = await shown(anthropic, { calls, chunks: 2 });
  expect(blocksOf(deltas)).toEqual([
    { type: 'tool_use', id: 'c1', tool: 'look', text: '{"order": "A' },
  ]);
});

test('a message that stands whole in its beginning is shown', async () => {
  const content = [
    { type: 'text', text: 'So.' },
    { type: 'tool_use', id: 'c', name: 't', input: { a: 1 } },
  ];
  const message = { type: 'message', model: 'm', content, stop_reason: 'tool_use', usage: {} };
  const events = [{ type: 'message_start', message }, { type: 'message_stop' }];
  const garbage = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const { deltas } = await shown(VENDORS[0]![1], { garbage });
  expect(blocksOf(deltas)).toMatchObject([
    { type: 'text', text: 'So.' },
    { type: 'tool_use', id: 'c', tool: 't' },
  ]);
});

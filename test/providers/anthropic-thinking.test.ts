import type { Json } from '../../core/json/json.js';
import { anthropicBody } from '../../providers/anthropic/request.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import { requestOf } from './scripted-setup.js';

const HELLO: RequestMessage = { role: 'user', blocks: [{ type: 'text', text: 'Hello' }] };
const RESULT: RequestMessage = {
  role: 'user',
  blocks: [{ type: 'tool_result', id: 'c1', isError: false, text: 'ok' }],
};

function bodyOf(changes: Partial<ModelRequest>): Record<string, unknown> {
  const request = requestOf({ maxTokens: 10_000, temperature: 1, ...changes });
  return anthropicBody(request) as unknown as Record<string, unknown>;
}

function limited(maxTokens: number, changes: Partial<ModelRequest> = {}) {
  return bodyOf({ thinking: { maxTokens, adaptive: false }, ...changes });
}

/** A tool loop under way; `first` is what the vendor's own blocks of the reply begin with. */
function loop(first: Json): readonly RequestMessage[] {
  const use = { type: 'tool_use', id: 'c1', name: 'orders__read', input: {} };
  const reply: RequestMessage = {
    role: 'assistant',
    blocks: [{ type: 'tool_use', id: 'c1', tool: 'orders.read', args: {} }],
    raw: [first, use],
    rawModel: 'scripted-model',
  };
  return [HELLO, reply, RESULT];
}

describe('a limit on thinking', () => {
  test('is a budget, and the temperature stays away', () => {
    const body = limited(4_000);
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 4_000 });
    expect(body).not.toHaveProperty('temperature');
  });

  test('stays below what the reply may have at all', () => {
    expect(limited(50_000)['thinking']).toMatchObject({ budget_tokens: 9_999 });
  });

  test.each([0, 1_023])('of %i tokens is no thinking, and the temperature is sent', (tokens) => {
    expect(limited(tokens)).toMatchObject({ thinking: { type: 'disabled' }, temperature: 1 });
  });

  test('that the reply has no room for is no thinking', () => {
    expect(limited(4_000, { maxTokens: 1_024 })['thinking']).toEqual({ type: 'disabled' });
  });

  test('of a model that weighs by itself only turns thinking on', () => {
    const thinking = { maxTokens: 4_000, adaptive: true };
    const body = bodyOf({ thinking });
    expect(body['thinking']).toEqual({ type: 'adaptive' });
    expect(body).not.toHaveProperty('temperature');
  });

  test('does not turn thinking on inside a tool loop that began without it', () => {
    const messages = loop({ type: 'text', text: 'Let me look.' });
    expect(limited(4_000, { messages })['thinking']).toEqual({ type: 'disabled' });
  });

  test('goes on inside a tool loop that began with thinking', () => {
    const messages = loop({ type: 'thinking', thinking: 'hm', signature: 's' });
    expect(limited(4_000, { messages })['thinking']).toMatchObject({ type: 'enabled' });
  });
});

test('without a limit the model decides, and nothing is sent', () => {
  expect(bodyOf({})).not.toHaveProperty('thinking');
});

/** Results that name no type are complete, and nothing else is made of a message. */
import { assumeComplete, completed } from '../../connectors/default-type.js';

const CONTENT = [{ type: 'text', text: 'Done.' }];

test('a result of a tool that names no type is complete', () => {
  const message = { jsonrpc: '2.0', id: 4, result: { content: CONTENT } };
  expect(completed(message)).toEqual({
    ...message,
    result: { content: CONTENT, resultType: 'complete' },
  });
});

test('a list of tools that names no type is complete', () => {
  const message = { jsonrpc: '2.0', id: 2, result: { tools: [{ name: 'pay' }] } };
  expect(completed(message)).toMatchObject({ result: { resultType: 'complete' } });
});

test.each([
  ['a question without a type', { id: 4, result: { content: [], inputRequests: { k: {} } } }],
  ['a state to come back with', { id: 4, result: { content: CONTENT, requestState: 's' } }],
  ['a question', { id: 4, result: { resultType: 'input_required', content: CONTENT } }],
  ['no content', { id: 4, result: {} }],
  ['an error', { id: 4, error: { code: 1, message: 'no' } }],
  ['a request', { id: 4, method: 'ping' }],
  ['no message', 'words'],
])('what is %s reaches the client as it came', (_, message) => {
  expect(completed(message)).toBe(message);
});

test('a transport hands each message on as completed', () => {
  const heard: unknown[] = [];
  const transport = { onmessage: (message: unknown) => void heard.push(message) };
  assumeComplete(transport as never);
  transport.onmessage({ id: 1, result: { content: [] } });
  expect(heard).toEqual([{ id: 1, result: { content: [], resultType: 'complete' } }]);
});

import { chatHandler, type ChatHandlerOptions } from '../../http/index.js';
import { saidIn } from '../../http/said.js';
import { Runs } from './runs.js';

const client = { follow: () => undefined } as unknown as ChatHandlerOptions['client'];
const insecure = { client, agent: 'desk', insecure: true } as const;

test.each([
  ['a control character', { id: 'c\u0000' }, 'id', 'without control characters'],
  ['half of a character', { id: 'c\ud800' }, 'id', 'without control characters'],
  ['a trigger of nobody', { id: 'c', trigger: 'bogus' }, 'trigger', 'submit-message'],
])('a request with %s is refused with its place', async (_, request, path, message) => {
  const errors = [{ path, message: expect.stringContaining(message) as string }];
  await expect((async () => saidIn(request))()).rejects.toMatchObject({ facts: { errors } });
});

test.each([
  ['DELETE', 'c1/messages', 'GET'],
  ['POST', 'c1/messages', 'GET'],
  ['PUT', 'c1/stream', 'GET'],
  ['GET', 'c1/stop', 'POST'],
  ['PUT', '', 'POST'],
])('%s of %s is told that %s belongs there', async (method, path, allow) => {
  const response = await chatHandler(insecure)(
    new Request(`http://localhost/api/chat/${path}`, { method }),
  );
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe(allow);
  expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
});

test('a profile that is none is refused before anything of the request counts', async () => {
  const runs = new Runs();
  const handler = chatHandler({ ...insecure, client: runs as never });
  const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Pay.' }] }];
  const response = await handler(
    new Request('http://localhost/api/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'holdfast-ui-profile': 'v99' },
      body: JSON.stringify({ id: 'c1', messages }),
    }),
  );
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ errors: [{ path: 'holdfast-ui-profile' }] });
  expect(runs.started).toEqual([]);
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatHandler, nodeListener } from '../../http/index.js';
import type { UiMessage } from '../../http/projection/index.js';
import { scriptOf, type ScriptedAnswer } from '../../testing/index.js';
import { AGENT, config } from './support/agents.js';
import { user } from './support/chats.js';
import { ANY_RUN, say, startWorld, type World } from './support/world.js';

let world: World;
let server: Server;
let origin: string;
let script: readonly ScriptedAnswer[];

beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: config({ serviceUrl: world.service.url }) });
  world.script(ANY_RUN, (request) => scriptOf(script)(request));
  const authorize = () => ({ actor: { id: 'ann' } });
  const listen = nodeListener(chatHandler({ client: world.client, agent: AGENT, authorize }));
  server = createServer((incoming, outgoing) => void listen(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await world.stop();
});

test('a message that a stopped run has left unread is told, and the next message brings it along', async () => {
  const id = 'unread';
  script = [{ ...say('Slowly.'), delayMs: 20_000 }];
  const post = (path: string, body: object, signal?: AbortSignal) =>
    fetch(`${origin}/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
  const stored = async (): Promise<readonly UiMessage[]> => {
    const response = await fetch(`${origin}/api/${id}/messages`);
    return ((await response.json()) as { readonly messages: readonly UiMessage[] }).messages;
  };
  const first = await post('', { id, messages: [user('u1', 'Pay.')] });
  const left = new AbortController();
  const waiting = await post('', { id, messages: [user('u2', 'Not that one.')] }, left.signal);
  expect(waiting.status).toBe(200);
  left.abort();
  const unread = [{ id: 'u2', text: 'Not that one.' }];
  const stopped = await post(`/${id}/stop`, {});
  expect(await stopped.json()).toEqual({ unread });
  expect(await first.text()).toContain(`"data":{"messages":${JSON.stringify(unread)}}`);
  const data = { messages: unread };
  expect((await stored()).at(-1)).toMatchObject({
    id: 'u2',
    parts: [{ text: 'Not that one.' }, { type: 'data-holdfast-unread', data }],
  });
  script = [say('Both.'), say('Both.')];
  const next = await post('', { id, messages: [user('u3', 'This one.')] });
  expect(await next.text()).toContain('Both.');
  const texts = (await stored()).map(({ parts }) => JSON.stringify(parts));
  expect(texts.filter((text) => text.includes('Not that one.'))).toEqual([
    expect.stringContaining('Not that one.\\n\\nThis one.'),
  ]);
  expect(texts.at(-1)).toContain('Both.');
});

test('a message whose run a change of an earlier one has stopped is told as replaced', async () => {
  const id = 'replaced';
  script = [say('First.')];
  const post = (body: object) =>
    fetch(`${origin}/api`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await (await post({ id, messages: [user('u1', 'Pay.')] })).text();
  script = [say('First.'), { ...say('Slowly.'), delayMs: 20_000 }];
  const other = await post({ id, messages: [user('u2', 'Not that one.')] });
  script = [say('Changed.')];
  const changed = await post({
    id,
    trigger: 'submit-message',
    messageId: 'u1',
    messages: [user('u1', 'Pay all.')],
  });
  expect(await changed.text()).toContain('Changed.');
  const parts = (await other.text()).split('\n').filter((line) => line.includes('"state":"ended"'));
  expect(parts).toEqual([expect.stringContaining('"replaced":true')]);
});

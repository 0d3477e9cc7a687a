/** What clients of the AI SDK show of an answer to a question whose time is over. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatHandler, nodeListener } from '../../http/index.js';
import type { UiMessage } from '../../http/projection/index.js';
import { scriptOf, type ScriptedAnswer } from '../../testing/index.js';
import { MAJORS, openChat, type ClientMessage } from '../http/clients.js';
import { AGENT, APPROVER, config } from './support/agents.js';
import { lastRun, seen, user } from './support/chats.js';
import { ANY_RUN, pay, say, startWorld, until, type World } from './support/world.js';

const scripts = new Map<string, readonly ScriptedAnswer[]>();
let world: World;
let server: Server;
let origin: string;

beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: config({ serviceUrl: world.service.url }) });
  world.script(ANY_RUN, (request) => {
    const name = /\[([a-z0-9-]+)\]/.exec(JSON.stringify(request.messages[0]))?.[1] ?? '';
    return scriptOf(scripts.get(name) ?? [])(request);
  });
  const listeners = (['reject', 'stop'] as const).map((onApprovalTimeout) =>
    nodeListener(
      chatHandler({
        client: world.client,
        agent: AGENT,
        ownDecisions: true,
        start: { settings: { approvalTimeoutMs: 2_000, onApprovalTimeout } },
        authorize: () => ({ actor: { id: APPROVER.by, roles: APPROVER.roles } }),
      }),
    ),
  );
  server = createServer((incoming, outgoing) => {
    const at = incoming.url?.startsWith('/reject') === true ? 0 : 1;
    void listeners[at]!(incoming, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await world.stop();
});

async function stored(path: string): Promise<readonly UiMessage[]> {
  const response = await fetch(`${origin}/${path}/messages`);
  return ((await response.json()) as { readonly messages: readonly UiMessage[] }).messages;
}

/** A stored conversation tells a refused call as an error. */
function withoutDenials(messages: readonly ClientMessage[]): ReturnType<typeof seen> {
  const text = JSON.stringify(seen(messages)).replaceAll('"output-denied"', '"output-error"');
  return JSON.parse(text) as ReturnType<typeof seen>;
}

describe.each(MAJORS)('a client of %s', (major) => {
  test.each([
    ['reject', 'completed'],
    ['stop', 'needs_human'],
  ] as const)(
    'that answers a question which has expired shows what became of it, and goes on: %s',
    async (onApprovalTimeout, stopReason) => {
      const id = `late-${onApprovalTimeout}-${major}`;
      scripts.set(id, [pay('pay.asked', 700), say('Nobody has decided.'), say('As you wish.')]);
      const chat = openChat(major, { id, api: `${origin}/${onApprovalTimeout}` });
      await chat.sendMessage(user('u1', `Pay. [${id}]`));
      const asked = () =>
        chat.messages.at(-1)!.parts.find(({ approval }) => approval !== undefined)!;
      expect(asked().state).toBe('approval-requested');
      const { runId } = lastRun(chat) as { runId: string };
      expect((await world.client.handle(runId).result()).stopReason).toBe(stopReason);
      await chat.addToolApprovalResponse({ id: asked().approval!.id, approved: true });
      await until('the end', () => (lastRun(chat)?.['state'] === 'ended' ? true : undefined));
      await until('a client at rest', () => (chat.status === 'ready' ? true : undefined));
      expect(asked().state).toBe('output-denied');
      expect(chat.messages.at(-1)!.parts).toContainEqual(
        expect.objectContaining({
          type: 'data-holdfast-ask',
          data: expect.objectContaining({ state: 'expired', by: [] }),
        }),
      );
      expect(withoutDenials(chat.messages)).toEqual(
        seen(await stored(`${onApprovalTimeout}/${id}`)),
      );
      await chat.sendMessage(user('u2', 'Leave it.'));
      expect(withoutDenials(chat.messages)).toEqual(
        seen(await stored(`${onApprovalTimeout}/${id}`)),
      );
      expect(chat.error).toBeUndefined();
    },
  );
});

/** What clients of the AI SDK show of an answer to a question that is over. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatHandler, nodeListener } from '../../http/index.js';
import type { UiMessage } from '../../http/projection/index.js';
import { scriptOf, type ScriptedAnswer } from '../../testing/index.js';
import { MAJORS, openChat, type ClientMessage } from '../http/clients.js';
import { AGENT, APPROVER, config } from './support/agents.js';
import { lastRun, seen, user } from './support/chats.js';
import { ANY_RUN, call, pay, say, startWorld, until, type World } from './support/world.js';

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
  const handling = (settings: object) =>
    nodeListener(
      chatHandler({
        client: world.client,
        agent: AGENT,
        ownDecisions: true,
        start: { settings },
        authorize: () => ({ actor: { id: APPROVER.by, roles: APPROVER.roles } }),
      }),
    );
  const listeners = new Map([
    ['reject', handling({ approvalTimeoutMs: 2_000, onApprovalTimeout: 'reject' })],
    ['stop', handling({ approvalTimeoutMs: 2_000, onApprovalTimeout: 'stop' })],
    ['one', handling({})],
    ['other', handling({})],
  ]);
  server = createServer((incoming, outgoing) => {
    void listeners.get(incoming.url!.split('/')[1]!)!(incoming, outgoing);
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

describe('an answer to a question that has ended', () => {
  const post = async (at: 'one' | 'other', body: object): Promise<readonly Chunk[]> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${origin}/${at}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
    return lines.map((line) => JSON.parse(line.slice(6)) as Chunk);
  };

  interface Chunk {
    readonly type: string;
    readonly data?: { readonly [name: string]: unknown };
  }

  const refusedIn = (chunks: readonly Chunk[]) =>
    chunks.filter(({ type }) => type === 'data-holdfast-refused').map(({ data }) => data);

  async function asked(id: string, answers: readonly ScriptedAnswer[]) {
    scripts.set(id, answers);
    const chunks = await post('one', { id, messages: [user('u1', `Begin. [${id}]`)] });
    const { data } = chunks.find(({ type }) => type === 'data-holdfast-ask')!;
    const question = { askId: data!['askId'], argsHash: data!['argsHash'] };
    return (said: object, at: 'one' | 'other' = 'one') =>
      post(at, { id, messages: [], answers: [{ ...question, ...said }] });
  }

  test('is refused where it says the contrary, and not where it says the same', async () => {
    const answer = await asked('contrary', [pay('pay.asked', 700), say('Paid.')]);
    expect(refusedIn(await answer({ decision: 'approve' }))).toEqual([]);
    expect(refusedIn(await answer({ decision: 'approve' }))).toEqual([]);
    expect(refusedIn(await answer({ decision: 'reject' }))).toMatchObject([
      {
        reason: 'already_decided',
        message: `The answer does not count: the question has ended before (approved by ${APPROVER.by}).`,
      },
    ]);
  });

  test('is refused where two servers hear contraries at once: one of them counts', async () => {
    const answer = await asked('at-once', [pay('pay.asked', 700), say('Done.')]);
    const told = await Promise.all([
      answer({ decision: 'approve' }, 'one'),
      answer({ decision: 'reject', reason: 'No!' }, 'other'),
    ]);
    expect(told.flatMap(refusedIn)).toMatchObject([{ reason: 'already_decided' }]);
  });

  test('is harmless where two servers hear the same at once', async () => {
    const answer = await asked('same-at-once', [pay('pay.asked', 700), say('Paid.')]);
    const approve = { decision: 'approve' };
    const told = await Promise.all([answer(approve, 'one'), answer(approve, 'other')]);
    expect(told.flatMap(refusedIn)).toEqual([]);
  });

  test('is refused where its words are others than those that the model has read', async () => {
    const question = call('ask_person', { question: 'Which colour?' });
    const answer = await asked('words', [question, say('Red then.')]);
    expect(refusedIn(await answer({ value: 'red' }))).toEqual([]);
    expect(refusedIn(await answer({ value: 'red' }))).toEqual([]);
    const late = [await answer({ value: 'blue' }), await answer({ decision: 'approve' })];
    expect(late.flatMap(refusedIn)).toMatchObject([
      { reason: 'already_decided' },
      { reason: 'already_decided' },
    ]);
  });
});

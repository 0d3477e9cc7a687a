/**
 * Conversations of thirty turns, of clients of both majors of the AI SDK: tools, approvals, changed messages, pages that are loaded
 * anew, cut connections, and deaths of the web server, of the worker and of Temporal's server. After each turn the client shows what
 * the transcript says. HOLDFAST_SEED: which conversation; HOLDFAST_WHOLE=1: all, with the deaths of Temporal's server.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatHandler, nodeListener, type ChatHandler } from '../../http/index.js';
import type { UiMessage } from '../../http/projection/index.js';
import { drawn } from '../draw.js';
import {
  MAJORS,
  openChat,
  type ChatClient,
  type ClientMessage,
  type Major,
} from '../http/clients.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { AGENT, APPROVER } from './support/agents.js';
import { echo, seen, user } from './support/chats.js';
import { ANY_RUN, pay, read, say, startWorld, until, type World } from './support/world.js';

const LIMIT_MS = 900_000;
/** How often each of them is in the thirty turns. */
const TURNS = {
  talk: 6,
  look: 5,
  pay: 3,
  refuse: 1,
  edit: 3,
  anew: 2,
  reload: 2,
  cut: 2,
  web: 2,
  worker: 1,
  stop: 1,
  meanwhile: 2,
} as const;
type Kind = keyof typeof TURNS | 'server';

const ALL = MAJORS.flatMap((major) => [1, 2, 3].map((number) => ({ major, number })));
const PLAYED = WHOLE ? ALL : drawn(ALL, 1, SEED);
saySeed(
  `conversations ${PLAYED.map(({ major, number }) => `${major}/${number}`).join(', ')} of ${ALL.length}`,
);

let world: World;
let web: Server;
let api: string;
let listen: ReturnType<typeof nodeListener>;
let worker: Awaited<ReturnType<World['spawn']>>;
const sockets = new Set<Socket>();

/** A web server that has just begun: it knows nothing of what another one has handed over. */
const newWeb = (): ChatHandler =>
  chatHandler({
    client: world.client,
    agent: AGENT,
    ownDecisions: true,
    start: { settings: { heartbeatMs: { repeatable: 5_000, single: 5_000 } } },
    authorize: () => ({ actor: { id: APPROVER.by, roles: APPROVER.roles } }),
    // Streams break off where servers die.
    say: () => undefined,
  });

function beginWeb(): void {
  listen = nodeListener(newWeb());
}

beforeAll(async () => {
  world = await startWorld({ worker: false, ownServer: WHOLE });
  world.script(ANY_RUN, (request) => {
    const last = JSON.stringify(request.messages.at(-1)?.content);
    if (last.includes('tool_result')) return { ...say('That is done.'), chunks: 2 };
    if (last.includes('Look')) return { ...read('cup'), text: 'I look.', chunks: 2 };
    if (last.includes('Pay')) return { ...pay('pay.asked', 700), text: 'I pay.' };
    return echo(request);
  });
  worker = await world.spawn();
  beginWeb();
  web = createServer((incoming, outgoing) => void listen(incoming, outgoing));
  web.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  api = `http://127.0.0.1:${(web.address() as AddressInfo).port}/chat`;
}, LIMIT_MS);
afterAll(async () => {
  web?.closeAllConnections();
  await new Promise((resolve) => web?.close(resolve));
  await world?.stop();
});

function cutAll(): void {
  for (const socket of sockets) socket.destroy();
}

class Conversation {
  chat: ChatClient;
  private said = 0;

  constructor(
    private readonly major: Major,
    private readonly id: string,
    private readonly seed: number,
  ) {
    this.chat = openChat(major, { id, api });
  }

  async take(kind: Kind): Promise<void> {
    const isFirst = this.chat.messages.length === 0;
    await this[isFirst && (kind === 'edit' || kind === 'anew') ? 'talk' : kind]();
    await this.answerAll(true);
    const { chat } = this;
    expect(chat.error).toBeUndefined();
    expect(asStored(chat.messages)).toEqual(asStored(await this.stored()));
  }

  talk = () => this.send('Word');
  look = () => this.send('Look at it, word');
  pay = () => this.send('Pay, word');

  async refuse(): Promise<void> {
    await this.send('Pay, word');
    await this.answerAll(false);
  }

  async edit(): Promise<void> {
    const own = this.chat.messages.filter(({ role }) => role === 'user');
    const [{ id: messageId }] = drawn(own, 1, this.seed + this.said) as [ClientMessage];
    await this.chat.sendMessage({ text: this.words('Changed'), messageId });
  }

  anew = () => this.chat.regenerate();

  async reload(): Promise<void> {
    const { over } = await this.slowly();
    await this.load();
    await over;
  }

  async cut(): Promise<void> {
    const { over } = await this.slowly();
    cutAll();
    await over;
    if (this.major === 'v7') await this.chat.resumeStream();
    else await this.load();
  }

  async web(): Promise<void> {
    const { over } = await this.slowly();
    beginWeb();
    cutAll();
    await over;
    await this.load();
  }

  async worker(): Promise<void> {
    const { over } = await this.slowly();
    await worker.kill();
    worker = await world.spawn();
    await over;
  }

  async server(): Promise<void> {
    const { over } = await this.slowly();
    await world.server.kill();
    await world.server.restart();
    await over;
    await until('the end', async () => {
      await this.load();
      return this.chat.messages.at(-1)?.role === 'assistant' ? true : undefined;
    });
  }

  async stop(): Promise<void> {
    const { over } = await this.slowly();
    await fetch(`${api}/${this.id}/stop`, { method: 'POST' });
    await over;
  }

  /** From another page, while the answer is under way. */
  async meanwhile(): Promise<void> {
    const { over } = await this.slowly();
    const message = user(`other-${this.said}`, this.words('Other'));
    const body = JSON.stringify({ id: this.id, messages: [message] });
    const headers = { 'content-type': 'application/json' };
    await (await fetch(api, { method: 'POST', headers, body })).text();
    await over;
    await this.load();
  }

  private words(before: string): string {
    this.said += 1;
    return `${before} n${this.said}.`;
  }

  private async send(before: string): Promise<void> {
    const text = this.words(before);
    await this.chat.sendMessage(user(`u${this.said}`, text));
  }

  /** Resolves when the answer has begun; `over` resolves with its stream. */
  private async slowly(): Promise<{ readonly over: Promise<void> }> {
    const { chat } = this;
    const before = chat.messages.length;
    const over = this.send('Slowly, word');
    await until('the first words', () =>
      chat.messages.length > before + 1 &&
      chat.messages.at(-1)!.parts.some(({ type }) => type === 'text')
        ? true
        : undefined,
    );
    return { over };
  }

  private async answerAll(approved: boolean): Promise<void> {
    const { chat } = this;
    for (;;) {
      await until('a client at rest', () => (chat.status === 'ready' ? true : undefined));
      const open = chat.messages.at(-1)?.parts.find(({ state }) => state === 'approval-requested');
      if (open === undefined) return;
      await chat.addToolApprovalResponse({ id: open.approval!.id, approved });
      await until('the answer', () =>
        open.toolCallId !== undefined && isAnswered(chat, open.toolCallId) ? true : undefined,
      );
    }
  }

  private async load(): Promise<void> {
    const messages = (await this.stored()) as readonly ClientMessage[];
    this.chat = openChat(this.major, { id: this.id, api, messages });
    if (messages.at(-1)?.role !== 'user') return;
    await this.chat.resumeStream();
    // The answer has ended in between.
    if (this.chat.messages.at(-1)?.role === 'user') await this.load();
  }

  private async stored(): Promise<readonly UiMessage[]> {
    const response = await fetch(`${api}/${this.id}/messages`);
    return ((await response.json()) as { readonly messages: readonly UiMessage[] }).messages;
  }
}

/** A transcript does not tell calls that were refused from calls that failed. */
function asStored(messages: readonly (ClientMessage | UiMessage)[]) {
  return seen(messages).map(({ calls, ...rest }) => ({
    ...rest,
    calls: calls.map((call) => ({ ...call, state: call.state?.replace('denied', 'error') })),
  }));
}

function isAnswered({ messages, status }: ChatClient, toolCallId: string): boolean {
  const part = messages.at(-1)?.parts.find((one) => one.toolCallId === toolCallId);
  return status === 'ready' && part?.state?.startsWith('output-') === true;
}

test.each(PLAYED)(
  'A client of $major shows after each turn of conversation $number what the transcript says.',
  async ({ major, number }) => {
    const kinds = Object.entries(TURNS).flatMap(([kind, count]) =>
      Array.from({ length: count }, () => kind as Kind),
    );
    if (WHOLE) kinds.splice(0, 1, 'server');
    const turns = drawn(kinds, kinds.length, number);
    expect(turns).toHaveLength(30);
    const conversation = new Conversation(major, `talk-${major}-${number}`, number);
    for (const [index, kind] of turns.entries()) {
      try {
        await conversation.take(kind);
      } catch (error) {
        throw new Error(`turn ${index + 1}, ${kind}`, { cause: error });
      }
    }
    const runs = await world.client.listRuns({ limit: 200 });
    for (const { runId } of runs) {
      // What was paid was paid once, whatever died, and nothing was paid for a message that was sent again.
      expect(world.service.visits(runId, 'effect').length).toBeLessThanOrEqual(1);
    }
  },
  LIMIT_MS,
);

/** Two web servers over one store. */
function twoWebs(id: string) {
  const webs = [newWeb(), newWeb()];
  const ask = async (n: number, path: string, init: RequestInit = {}) => {
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`http://localhost/api${path}`, { ...init, headers });
    return (await webs[n]!(request)).text();
  };
  const send = (n: number, message: ReturnType<typeof user>, rest: object = {}) => {
    const body = JSON.stringify({ id, messages: [message], trigger: 'submit-message', ...rest });
    return ask(n, '', { method: 'POST', body });
  };
  return { send, words: (n = 0) => ask(n, `/${id}/messages`) };
}

test('messages that come to two web servers at once are one conversation, and none is lost', async () => {
  const { send, words } = twoWebs('at-once');
  const say = (name: string, n: number) => send(n, user(name, `Say ${name}.`));
  await Promise.all(['one', 'two'].map(say));
  await Promise.all(['three', 'four'].map(say));
  const said = await words();
  for (const name of ['one', 'two', 'three', 'four']) expect(said).toContain(`Say ${name}.`);
});

test.each([
  ['has ended', 'Say one.', 0],
  ['has ended a little before', 'Say one.', 50],
  ['is under way', 'Slowly one.', 0],
  ['is about to stop', 'Slowly one.', 50],
])(
  'of a change and a message that come to two web servers at once none is lost in silence: the answer %s',
  async (name, first, laterMs) => {
    const { send, words } = twoWebs(`change-at-once-${name.replaceAll(' ', '-')}`);
    const answered = send(0, user('u1', first));
    if (first.startsWith('Slowly')) await sleep(1_500);
    else await answered;
    const changing = send(0, user('u1', 'Changed one.'), { messageId: 'u1' });
    await sleep(laterMs);
    const [changed, sent] = await Promise.all([changing, send(1, user('u2', 'And two.'))]);
    await answered;
    for (const said of [await words(0), await words(1)]) {
      expect(said.includes('Changed one.') || changed.includes('"code":"busy"')).toBe(true);
      expect(said.includes('And two.') || isLost(sent)).toBe(true);
    }
    // Sent again, it is the same message.
    if (!isLost(sent)) expect(startOf(await send(0, user('u2', 'And two.')))).toBe(startOf(sent));
  },
);

const isLost = (stream: string) => stream.includes('The conversation was changed before');
const startOf = (stream: string) => /"messageId":"([^"]+)"/.exec(stream)?.[1];

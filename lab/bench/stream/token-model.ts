/**
 * A model that speaks at a steady pace, in a process of its own: it answers every request with the same number
 * of tokens, each with its number and the moment in which it was sent. Streams of one group begin together.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenModelSettings {
  readonly tokens: number;
  readonly tokensPerSecond: number;
}

export interface SentToken {
  readonly number: number;
  /** ms since epoch, with fractions. */
  readonly sentAt: number;
}

/** Path under which it is told how many streams begin together. */
export const GROUP_PATH = '/group/';
/** A group that never becomes whole begins after this. */
const GROUP_LIMIT_MS = 30_000;
const TOKEN = /(\d+)@([\d.]+) /g;

export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Every token in a text that holds whole ones. */
export function tokensIn(text: string): readonly SentToken[] {
  return [...text.matchAll(TOKEN)].map(([, number, sentAt]) => ({
    number: Number(number),
    sentAt: Number(sentAt),
  }));
}

export async function startTokenModel(settings: TokenModelSettings): Promise<string> {
  let wanted = 1;
  const gathered: (() => void)[] = [];
  const begin = (): void => {
    for (const start of gathered.splice(0)) start();
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path.startsWith(GROUP_PATH)) {
      wanted = Number(path.slice(GROUP_PATH.length));
      response.end();
      return;
    }
    void drained(request).then(() => {
      gathered.push(() => void speak(response, settings));
      if (gathered.length >= wanted) {
        // What comes later, a repeated request for instance, waits for nobody.
        wanted = 1;
        begin();
      } else setTimeout(begin, GROUP_LIMIT_MS).unref();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

async function drained(request: IncomingMessage): Promise<void> {
  for await (const _ of request) continue;
}

async function speak(
  response: ServerResponse,
  { tokens, tokensPerSecond }: TokenModelSettings,
): Promise<void> {
  const pace = 1_000 / tokensPerSecond;
  const first = preciseNow() + Math.random() * pace;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(eventOf('message_start', { message: MESSAGE }));
  response.write(eventOf('content_block_start', { index: 0, content_block: BLOCK }));
  for (let number = 0; number < tokens && !response.destroyed; number += 1) {
    const wait = first + number * pace - preciseNow();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const delta = { type: 'text_delta', text: `${number}@${preciseNow().toFixed(3)} ` };
    response.write(eventOf('content_block_delta', { index: 0, delta }));
  }
  response.write(eventOf('content_block_stop', { index: 0 }));
  const usage = { output_tokens: tokens };
  response.write(eventOf('message_delta', { delta: { stop_reason: 'end_turn' }, usage }));
  response.end(eventOf('message_stop', {}));
}

const MESSAGE = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  content: [],
  stop_reason: null,
  usage: { input_tokens: 10, output_tokens: 1 },
};
const BLOCK = { type: 'text', text: '' };

function eventOf(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

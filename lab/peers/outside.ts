/**
 * The outside of every peer: the model's server and the payment service, both on loopback. Each can hold back one answer,
 * so that a process is killed at exactly that moment.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { MODEL, PAY, READ, taskOf } from './task.js';

const HOST = '127.0.0.1';
const BODY_BYTES_MAX = 4 * 1024 * 1024;
const AMOUNT_CENTS = 1_250;

/** `booked`: the service has booked a payment and not answered. `told`: the model is asked what to do behind it. */
export type Moment = 'booked' | 'told';

export interface Outside {
  readonly modelUrl: string;
  readonly serviceUrl: string;
  /** Payments of a run that were booked. */
  booked(run: string): number;
  /** Resolves when a run has come to the moment; what was asked then is never answered. */
  holdAt(moment: Moment, run: string): Promise<void>;
  stop(): Promise<void>;
}

const block = z.looseObject({ type: z.string(), text: z.string().optional() });
const requestSchema = z.looseObject({
  stream: z.boolean().optional(),
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(block)]) }),
  ),
});
const paymentSchema = z.object({
  run: z.string(),
  amountCents: z.number(),
  key: z.string().optional(),
});

export async function openOutside(): Promise<Outside> {
  const book: { readonly run: string; readonly key?: string | undefined }[] = [];
  const held = new Map<string, () => void>();
  /** Whether the answer is held back. */
  const holds = (moment: Moment, run: string): boolean => {
    const came = held.get(`${moment} ${run}`);
    held.delete(`${moment} ${run}`);
    came?.();
    return came !== undefined;
  };
  const payments = await listening(async (request, response) => {
    const { run, key } = paymentSchema.parse(JSON.parse(await bodyOf(request)));
    const known = key !== undefined && book.some((one) => one.key === key);
    if (!known) book.push({ run, key });
    if (!holds('booked', run)) answered(response, { paid: true });
  });
  const model = await listening(async (request, response) => {
    const { stream = false, messages } = requestSchema.parse(JSON.parse(await bodyOf(request)));
    const { run, turn, isBehindPayment, content } = replyTo(messages);
    if (isBehindPayment && holds('told', run)) return;
    const message = messageOf(`msg_${run}_${turn}`, content);
    if (stream) streamed(response, message);
    else answered(response, message);
  });
  return {
    modelUrl: model.url,
    serviceUrl: payments.url,
    booked: (run) => book.filter((one) => one.run === run).length,
    holdAt: (moment, run) =>
      new Promise((resolve) => {
        held.set(`${moment} ${run}`, resolve);
      }),
    async stop() {
      await Promise.all([model.stop(), payments.stop()]);
    },
  };
}

type Messages = z.output<typeof requestSchema>['messages'];

interface Reply {
  readonly run: string;
  readonly turn: number;
  readonly isBehindPayment: boolean;
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

function replyTo(messages: Messages): Reply {
  const first = messages.find(({ role }) => role === 'user')?.content ?? '';
  const text = typeof first === 'string' ? first : first.map((one) => one.text ?? '').join('\n');
  const task = taskOf(text);
  if (task === undefined) throw new Error(`no task in ${JSON.stringify(text).slice(0, 200)}`);
  const { run, reads, pays } = task;
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const call = (name: string, input: unknown) => [
    { type: 'tool_use', id: `toolu_${turn}`, name, input },
  ];
  const known = { run, turn, isBehindPayment: pays && turn > reads };
  if (turn < reads) return { ...known, content: call(READ, { orderId: `O-${turn}` }) };
  if (pays && turn === reads) {
    return { ...known, content: call(PAY, { amountCents: AMOUNT_CENTS }) };
  }
  return { ...known, content: [{ type: 'text', text: 'Done.' }] };
}

/** Ids tell messages apart: LangGraph takes two of one id for one. */
function messageOf(id: string, content: Reply['content']) {
  const calls = content.some(({ type }) => type === 'tool_use');
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content,
    stop_reason: calls ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 20 },
  } as const;
}

type Message = ReturnType<typeof messageOf>;

function answered(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function streamed(response: ServerResponse, message: Message): void {
  const { content, stop_reason, stop_sequence, usage, ...head } = message;
  const events: Readonly<Record<string, unknown>>[] = [
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage },
    },
    ...content.flatMap((one, index) => blockEvents(one, index)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function blockEvents(one: Reply['content'][number], index: number) {
  const isText = one['type'] === 'text';
  const begun = isText ? { ...one, text: '' } : { ...one, input: {} };
  const delta = isText
    ? { type: 'text_delta', text: one['text'] }
    : { type: 'input_json_delta', partial_json: JSON.stringify(one['input']) };
  return [
    { type: 'content_block_start', index, content_block: begun },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
}

interface Listening {
  readonly url: string;
  stop(): Promise<void>;
}

async function listening(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(400).end(String(error));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

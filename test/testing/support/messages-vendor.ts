/** A server that speaks Anthropic's Messages with blocks as they are given: those of the vendor's own tools, and citations. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../../core/json/json.js';

export type Block = { readonly [key: string]: Json };

export interface Said {
  readonly content: readonly Block[];
  readonly stop?: string;
  readonly usage?: Block;
  /** Fields of the message beside those. */
  readonly more?: Block;
  /** The connection ends after so many events. */
  readonly cutAfter?: number;
}

export interface MessagesVendor {
  readonly baseUrl: string;
  /** In the order of the requests; the last one answers all that follow. */
  readonly answers: Said[];
  /** Bodies of the requests. */
  readonly asked: { readonly [key: string]: Json }[];
  stop(): Promise<void>;
}

export async function startMessagesVendor(...answers: readonly Said[]): Promise<MessagesVendor> {
  const queue = [...answers];
  const asked: { readonly [key: string]: Json }[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(pieces).toString()) as Block);
      const said = queue.length > 1 ? queue.shift()! : queue[0]!;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of eventsOf(said).slice(0, said.cutAfter))
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      if (said.cutAfter === undefined) response.end();
      else setImmediate(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers: queue,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function eventsOf({ content, stop = 'end_turn', usage = {}, more = {} }: Said): readonly object[] {
  const report = { input_tokens: 100, output_tokens: 20, ...usage };
  const message = { type: 'message', model: 'claude', content: [], usage: report, ...more };
  return [
    { type: 'message_start', message },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: beginningOf(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop, ...more }, usage: report },
    { type: 'message_stop' },
  ];
}

function beginningOf(block: Block): Block {
  if (block['type'] !== 'text') return 'input' in block ? { ...block, input: {} } : block;
  const { citations: _, ...plain } = block;
  return { ...plain, text: '' };
}

function deltasOf({ type, text = '', citations, input }: Block): readonly Block[] {
  if (input !== undefined)
    return [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }];
  if (type !== 'text') return [];
  const cited = (citations ?? []) as readonly Json[];
  return [
    { type: 'text_delta', text },
    ...cited.map((citation) => ({ type: 'citations_delta', citation })),
  ];
}

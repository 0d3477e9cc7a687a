/** Streams of vendors as they write them, for their packages of the AI SDK, and a server that plays them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';

/** One reply, in no vendor's words. */
export interface Said {
  readonly thought?: { readonly text: string; readonly signature: string };
  readonly text?: string;
  readonly call?: { readonly id: string; readonly name: string; readonly args: object };
  /** The stream ends without its end. */
  readonly cut?: true;
}

export interface Vendor {
  readonly contentType: string;
  /** Pieces of the body. */
  write(said: Said): readonly (string | Buffer)[];
}

const sse = (events: readonly object[], last: readonly string[] = []): readonly string[] => [
  ...events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
  ...last,
];

export const GOOGLE: Vendor = {
  contentType: 'text/event-stream',
  write({ thought, text, call, cut }) {
    const parts = [
      ...(thought === undefined ? [] : [{ text: thought.text, thought: true }]),
      ...(text === undefined ? [] : [{ text }]),
      ...(call === undefined
        ? []
        : [
            {
              functionCall: { name: call.name, args: call.args },
              ...(thought !== undefined && { thoughtSignature: thought.signature }),
            },
          ]),
    ];
    const usageMetadata = {
      promptTokenCount: 10,
      cachedContentTokenCount: 3,
      candidatesTokenCount: 5,
      totalTokenCount: 15,
    };
    const pieces = parts.map((part) => ({
      candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }],
    }));
    const end = { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }], usageMetadata };
    return sse(cut === true ? pieces : [...pieces, end]);
  },
};

export const MISTRAL: Vendor = {
  contentType: 'text/event-stream',
  write({ text, call, cut }) {
    const chunk = (delta: object, more: object = {}, usage: object = {}) => ({
      id: 'm1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'mistral-small',
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
      ...usage,
    });
    const calls = call && {
      tool_calls: [
        {
          id: call.id,
          index: 0,
          function: { name: call.name, arguments: JSON.stringify(call.args) },
        },
      ],
    };
    const pieces = [
      chunk({ role: 'assistant', content: '' }),
      ...(text === undefined ? [] : [chunk({ content: text })]),
      ...(calls === undefined ? [] : [chunk({ content: '', ...calls })]),
    ];
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const reason = call === undefined ? 'stop' : 'tool_calls';
    const end = chunk({ content: '' }, { finish_reason: reason }, { usage });
    return cut === true ? sse(pieces) : sse([...pieces, end], ['data: [DONE]\n\n']);
  },
};

export const OLLAMA: Vendor = {
  contentType: 'application/x-ndjson',
  write({ text, call, cut }) {
    const line = (message: object, more: object = { done: false }) =>
      `${JSON.stringify({ model: 'qwen3', created_at: '2026-11-01T00:00:00Z', message: { role: 'assistant', content: '', ...message }, ...more })}\n`;
    const calls = call && { tool_calls: [{ function: { name: call.name, arguments: call.args } }] };
    const pieces = [
      ...(text === undefined ? [] : [line({ content: text })]),
      ...(calls === undefined ? [] : [line(calls)]),
    ];
    const counts = { prompt_eval_count: 10, eval_count: 5, eval_duration: 1, total_duration: 1 };
    return cut === true
      ? pieces
      : [...pieces, line({}, { done: true, done_reason: 'stop', ...counts })];
  },
};

export const BEDROCK: Vendor = {
  contentType: 'application/vnd.amazon.eventstream',
  write({ thought, text, call, cut }) {
    const blocks = [
      ...(thought === undefined
        ? []
        : [
            [
              { reasoningContent: { text: thought.text } },
              { reasoningContent: { signature: thought.signature } },
            ],
          ]),
      ...(text === undefined ? [] : [[{ text }]]),
      ...(call === undefined ? [] : [[{ toolUse: { input: JSON.stringify(call.args) } }]]),
    ];
    const events = blocks.flatMap((deltas, contentBlockIndex) => [
      ...('toolUse' in (deltas[0] ?? {}) && call !== undefined
        ? [
            amazonEvent('contentBlockStart', {
              contentBlockIndex,
              start: { toolUse: { toolUseId: call.id, name: call.name } },
            }),
          ]
        : []),
      ...deltas.map((delta) => amazonEvent('contentBlockDelta', { contentBlockIndex, delta })),
      amazonEvent('contentBlockStop', { contentBlockIndex }),
    ]);
    const begin = amazonEvent('messageStart', { role: 'assistant' });
    const stopReason = call === undefined ? 'end_turn' : 'tool_use';
    const usage = { inputTokens: 7, outputTokens: 5, totalTokens: 15, cacheReadInputTokens: 3 };
    const end = [amazonEvent('messageStop', { stopReason }), amazonEvent('metadata', { usage })];
    return [begin, ...events, ...(cut === true ? [] : end)];
  },
};

/** A message of Amazon's event streams: lengths, headers and payload, each part with its checksum. */
function amazonEvent(type: string, payload: object): Buffer {
  const headers = Buffer.concat([
    header(':event-type', type),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const front = Buffer.concat([prelude, checksum(prelude), headers, body]);
  return Buffer.concat([front, checksum(front)]);
}

function header(name: string, value: string): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([7]),
    size,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

export interface VendorServer {
  readonly baseUrl: string;
  /** Bodies of the requests. */
  readonly asked: string[];
  /** The answer to each request, in their order; a number is a status. */
  readonly answers: (Said | number)[];
  stop(): Promise<void>;
}

export async function startVendor(vendor: Vendor): Promise<VendorServer> {
  const asked: string[] = [];
  const answers: (Said | number)[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      asked.push(Buffer.concat(parts).toString());
      const said = answers.shift() ?? 500;
      if (typeof said === 'number') {
        response.writeHead(said, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'busy', code: said } }));
        return;
      }
      response.writeHead(200, { 'content-type': vendor.contentType });
      for (const piece of vendor.write(said)) response.write(piece);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    asked,
    answers,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Streams that Anthropic's API really sent. They lie outside of the repository; without them these tests
 * say so and pass, except in CI.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { acceptEvent, newAssembly } from '../../providers/anthropic/assembly.js';
import type { Assembly } from '../../providers/anthropic/assembly.js';
import { replyOf } from '../../providers/anthropic/reply.js';
import type { ModelReply } from '../../providers/provider.js';
import { createSseParser } from '../../providers/sse.js';
import { serving, stopAll } from './scripted-setup.js';

const ROOT = path.join(
  __dirname,
  '..',
  '..',
  '..',
  'shared',
  'material',
  'anthropic-sdk-fixtures',
  'tests',
);
const LIMIT = 10_000_000;

afterEach(stopAll);

interface Recording {
  readonly name: string;
  readonly bytes: Buffer;
}

function recordings(): readonly Recording[] {
  if (!existsSync(ROOT)) return [];
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).toSorted();
  const streams = files.filter(
    (name) => name.endsWith('.sse') || /streaming.fixtures.*\.txt$/.test(name),
  );
  const plain = streams.map((name) => ({ name, bytes: readFileSync(path.join(ROOT, name)) }));
  const exchanges = files.filter((name) => name.endsWith('.json')).flatMap(exchangesOf);
  return [...plain, ...exchanges];
}

interface Exchange {
  readonly response: { readonly status_code: number; readonly body: unknown };
}

function exchangesOf(name: string): readonly Recording[] {
  const exchanges = JSON.parse(readFileSync(path.join(ROOT, name), 'utf8')) as readonly Exchange[];
  return exchanges.flatMap(({ response }, index) =>
    typeof response.body === 'string' && response.body.includes('message_start')
      ? [{ name: `${path.basename(name)}#${index}`, bytes: Buffer.from(response.body) }]
      : [],
  );
}

function assemble(pieces: readonly Uint8Array[]): Assembly {
  const parser = createSseParser(LIMIT);
  const assembly = newAssembly();
  for (const piece of pieces) {
    for (const event of parser.push(piece)) acceptEvent(assembly, event);
  }
  try {
    for (const event of parser.end()) acceptEvent(assembly, event);
  } catch {
    // The rest of an event that was cut.
  }
  return assembly;
}

function reply(assembly: Assembly): ModelReply {
  return replyOf(assembly, { model: 'm', usedIds: new Set(), call: 1, earlier: [], hosted: [] });
}

const all = recordings();

if (all.length === 0) {
  test('the recorded streams are there', () => {
    const absent = 'The recorded streams (shared/material/anthropic-sdk-fixtures) are absent';
    if (process.env['CI'] === 'true') throw new Error(`${absent}.`);
    process.stderr.write(`${absent}: nothing was checked against them.\n`);
  });
} else {
  describe.each(all)('the recorded stream $name', ({ bytes }) => {
    test('is read to its end, in one piece and byte by byte', () => {
      const whole = assemble([bytes]);
      expect(whole.stopped).toBe(true);
      const inBytes = assemble(Array.from(bytes, (byte) => Uint8Array.of(byte)));
      expect(reply(inBytes)).toEqual(reply(whole));
      expect(reply(whole)).toMatchObject({ usageSource: 'reported' });
    });

    test('is no complete message when it is cut anywhere before its last event', () => {
      const end = bytes.lastIndexOf('}');
      for (let at = 0; at < end; at += 1) {
        expect(assemble([bytes.subarray(0, at)]).stopped).toBe(false);
      }
    });

    test('comes through the provider as it was assembled', async () => {
      const { ask } = await serving([{ garbage: bytes.toString('utf8') }]);
      expect(await ask({ metadata: { runId: 'r', call: 1 } })).toEqual(reply(assemble([bytes])));
    });
  });

  test('recordings show the cases that they were made for', () => {
    const replies = new Map(
      all.map(({ name, bytes }) => [path.basename(name), reply(assemble([bytes]))]),
    );
    expect(replies.get('tool_use_response.txt')).toMatchObject({
      stop: 'tool_use',
      blocks: [
        { type: 'text' },
        { type: 'tool_use', tool: 'get_weather', args: { location: 'Paris' } },
      ],
    });
    expect(replies.get('incomplete_partial_json_response.txt')).toMatchObject({
      stop: 'max_tokens',
      blocks: [{ type: 'text' }],
      incompleteCalls: 1,
    });
    expect(replies.get('refusal_response.txt')).toMatchObject({
      stop: 'refusal',
      blocks: [],
      refusal: 'This request was refused due to policy.',
    });
    expect(replies.get('compaction_response.txt')?.raw).toMatchObject([
      { type: 'compaction', content: 'Earlier conversation summarized.' },
      { type: 'text' },
    ]);
    const fallback = replies.get('stream-a-toolrefusal.sse');
    expect(fallback?.raw).toMatchObject([
      { type: 'server_tool_use', input: { query: expect.stringContaining('solar eclipse') } },
      { type: 'web_search_tool_result' },
      { type: 'text' },
    ]);
    expect(fallback?.hosted).toMatchObject([
      { tool: 'web_search', isError: false, args: { query: expect.any(String) } },
    ]);
  });
}

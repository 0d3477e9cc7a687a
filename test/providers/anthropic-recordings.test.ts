/**
 * Streams that Anthropic's API really sent. They lie outside of the repository; without them these tests
 * say so and pass, except in CI.
 */
import path from 'node:path';
import { assembled } from './assembled.js';
import { sayAbsent } from './cassettes.js';
import { cutPlaces, sayCutPlaces } from './cut-places.js';
import { messagesStreams } from './recorded-streams.js';
import { serving, stopAll } from './scripted-setup.js';

afterEach(stopAll);

const all = messagesStreams();

function replyIn(...pieces: readonly Uint8Array[]) {
  return assembled('messages', pieces).reply;
}

if (all.length === 0) {
  test('the recorded streams are there', () => sayAbsent('anthropic-sdk-fixtures'));
} else {
  sayCutPlaces('recorded messages');
  describe.each(all)('the recorded stream $name', ({ bytes }) => {
    test('is read to its end, in one piece and byte by byte', () => {
      const whole = assembled('messages', [bytes]);
      expect(whole).toMatchObject({ complete: true, reply: { usageSource: 'reported' } });
      const inBytes = Array.from(bytes, (byte) => Uint8Array.of(byte));
      expect(replyIn(...inBytes)).toEqual(whole.reply);
    });

    test('is no complete message when it is cut anywhere before its last event', () => {
      const end = bytes.lastIndexOf('}');
      for (const at of cutPlaces(end)) {
        expect(assembled('messages', [bytes.subarray(0, at)]).complete).toBe(false);
      }
    });

    test('comes through the provider as it was assembled', async () => {
      const { ask } = await serving([{ garbage: bytes.toString('utf8') }]);
      expect(await ask({ metadata: { runId: 'r', call: 1 } })).toEqual(replyIn(bytes));
    });
  });

  test('recordings show the cases that they were made for', () => {
    const replies = new Map(all.map(({ name, bytes }) => [path.basename(name), replyIn(bytes)]));
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

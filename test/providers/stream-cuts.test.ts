/**
 * Streams that model APIs really sent, and what can become of them on the way: however the bytes are cut, the
 * same message or the same failure; a stream that ends too early never brings a call.
 * HOLDFAST_WHOLE=1: many more places; HOLDFAST_SEED: of the places where streams are cut.
 */
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { assembled } from './assembled.js';
import { cutAt, outcomeOf } from './canned.js';
import { sayAbsent } from './cassettes.js';
import { recordedStreams, type RecordedStream } from './recorded-streams.js';

/** Above this size not every place is tried. */
const EVERY_BYTE_UP_TO = WHOLE ? 20_000 : 0;
const PLACES_MAX = WHOLE ? 200 : 50;
/** Of each stream through a whole provider, beside the borders of its events. */
const PROVIDER_PLACES = WHOLE ? 20 : 4;
const MANY_PIECES = 25;

const all = recordedStreams();

function placesIn({ bytes }: RecordedStream): readonly number[] {
  const every = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  return bytes.length <= EVERY_BYTE_UP_TO ? every : drawn(every, PLACES_MAX, SEED);
}

/** Ends of lines and of events, and the bytes around them, are where parsers go wrong. */
function bordersIn({ bytes }: RecordedStream): readonly number[] {
  const every = Array.from({ length: bytes.length }, (_, at) => at);
  const borders = every.filter((at) => bytes[at] === 10).flatMap((at) => [at, at + 1]);
  return [...drawn(borders, PROVIDER_PLACES, SEED), ...drawn(every, PROVIDER_PLACES, SEED + 1)];
}

/** Damages that a network or a proxy may do, to the stream of a message that calls a tool. */
const DAMAGES: readonly (readonly [string, (stream: RecordedStream) => Buffer, string])[] = [
  ['has its beginning twice', (stream) => join(firstEvent(stream), stream.bytes), 'MalformedReply'],
  [
    'goes on as another message',
    (stream) => join(stream.bytes.subarray(0, half(stream)), strangerOf(stream)),
    'MalformedReply',
  ],
  [
    'is followed by an error after half of it',
    (stream) => join(stream.bytes.subarray(0, half(stream)), errorOf(stream)),
    'Overloaded',
  ],
  ['ends after half of it', (stream) => stream.bytes.subarray(0, half(stream)), 'NetworkTimeout'],
  [
    'ends within an event',
    (stream) => stream.bytes.subarray(0, half(stream) + 20),
    'NetworkTimeout',
  ],
];

if (all.length === 0) {
  test('the recorded streams are there', () => sayAbsent('anthropic-sdk-fixtures'));
} else {
  saySeed(`${all.length} recorded streams, cut`);

  describe.each(all)('the recorded stream $name', (stream) => {
    const { dialect, bytes } = stream;

    test('is the same message, cut in two anywhere or into many pieces', () => {
      const whole = assembled(dialect, [bytes]);
      expect(whole).toMatchObject({ complete: true, reply: { usageSource: 'reported' } });
      const text = JSON.stringify(whole);
      const ways = placesIn(stream).map((at) => [at]);
      const every = Array.from({ length: bytes.length }, (_, at) => at);
      ways.push(every);
      for (let n = 0; n < (WHOLE ? 50 : 10); n += 1)
        ways.push([...drawn(every, MANY_PIECES, SEED + n)]);
      for (const places of ways) {
        const cut = assembled(dialect, cutAt(bytes, places));
        if (JSON.stringify(cut) !== text) expect({ places, ...cut }).toEqual({ places, ...whole });
      }
    });

    test('comes through its provider as it was put together', async () => {
      const { reply } = assembled(dialect, [bytes]);
      // Responses are kept by the vendor, which a reply then names.
      const expected = dialect === 'responses' ? { blocks: reply?.blocks } : reply;
      for (const at of bordersIn(stream)) {
        const outcome = await outcomeOf(dialect, { pieces: cutAt(bytes, [at]) });
        expect({ at, outcome }).toMatchObject({ at, outcome: expected });
      }
      const many = drawn(bordersIn(stream), MANY_PIECES, SEED + 2);
      expect(await outcomeOf(dialect, { pieces: cutAt(bytes, many) })).toMatchObject({
        ...expected,
      });
    });

    test('is no message when it ends too early', async () => {
      const { reply } = assembled(dialect, [bytes]);
      for (const at of drawn([...bytes.keys()], PLACES_MAX, SEED)) {
        const cut = assembled(dialect, [bytes.subarray(0, at)]);
        expect(cut.error).toBeUndefined();
        // Only the end itself may be lacking of what is complete.
        if (cut.complete) expect(cut.reply?.blocks).toEqual(reply?.blocks);
      }
      for (const at of bordersIn(stream)) {
        const outcome = await outcomeOf(dialect, { pieces: [bytes.subarray(0, at)] });
        if (assembled(dialect, [bytes.subarray(0, at)]).complete) continue;
        expect({ at, outcome }).toMatchObject({
          outcome: { code: 'NetworkTimeout', details: { shouldRetry: true, receivedInput: true } },
        });
      }
    });
  });

  const calling = (['messages', 'chat', 'responses'] as const).flatMap((dialect) => {
    const streams = all.filter((each) => each.dialect === dialect && each.bytes.length < 12_000);
    const withCall = streams.find(({ bytes }) => {
      const blocks = assembled(dialect, [bytes]).reply?.blocks ?? [];
      return blocks.some(({ type }) => type === 'tool_use');
    });
    const [stream = streams[0]] = [withCall];
    return stream === undefined ? [] : [stream];
  });

  describe.each(calling)('the damaged stream $name', (stream) => {
    test.each(DAMAGES)(
      'that %s is the same failure, however it is cut',
      async (_, damage, code) => {
        const { dialect } = stream;
        const bytes = damage(stream);
        const whole = await outcomeOf(dialect, { pieces: [bytes] });
        expect(whole).toMatchObject({ code, details: { shouldRetry: true, receivedInput: true } });
        const said = assembled(dialect, [bytes]);
        for (const at of placesIn({ ...stream, bytes })) {
          expect(assembled(dialect, cutAt(bytes, [at]))).toEqual(said);
        }
        for (const at of drawn([...bytes.keys()], PROVIDER_PLACES, SEED)) {
          expect(await outcomeOf(dialect, { pieces: cutAt(bytes, [at]) })).toEqual(whole);
        }
      },
    );
  });
}

function join(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}

function eventsOf(bytes: Buffer): readonly string[] {
  return bytes
    .toString('utf8')
    .split(/(?<=\n\n)/)
    .filter((event) => event.trim() !== '');
}

function firstEvent(stream: RecordedStream): Buffer {
  // A second chunk of one chat completion is nothing odd: only another message's would be.
  const [first = ''] = eventsOf(stream.dialect === 'chat' ? strangerOf(stream) : stream.bytes);
  return Buffer.from(first);
}

/** The end of the event in the middle. */
function half(stream: RecordedStream): number {
  const events = eventsOf(stream.bytes);
  return Buffer.byteLength(events.slice(0, Math.ceil(events.length / 2)).join(''));
}

/** The same stream as that of another message. */
function strangerOf({ bytes }: RecordedStream): Buffer {
  return Buffer.from(bytes.toString('utf8').replaceAll(/"(id|item_id)": ?"/g, '"$1":"other_'));
}

function errorOf({ dialect }: RecordedStream): Buffer {
  const error = { type: 'overloaded_error', message: 'busy' };
  const data =
    dialect === 'responses'
      ? { type: 'error', code: 'overloaded_error', message: 'busy' }
      : { type: 'error', error };
  return Buffer.from(`event: error\ndata: ${JSON.stringify(data)}\n\n`);
}

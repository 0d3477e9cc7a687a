/** How long an Ogg file says that it is: its pages tell up to which sample they reach. */

const PAGE_HEAD_BYTES = 27;
const OPUS_RATE = 48_000;
/** Of what is neither Opus nor Vorbis: the slowest that is in use. */
const LEAST_RATE = 8_000;
/** Streams one after the other, or beside each other. */
const STREAMS_MAX = 1_000;
const ENDS_IN_NO_SAMPLE = 0xffff_ffff_ffff_ffffn;

interface Stream {
  readonly rate: number;
  samples: number;
}

/** Of all streams together; 0: nothing is said. */
export function secondsOfOgg(data: Buffer): number {
  const streams = new Map<number, Stream>();
  let at = 0;
  while (at + PAGE_HEAD_BYTES <= data.length && data.toString('latin1', at, at + 4) === 'OggS') {
    const body = at + PAGE_HEAD_BYTES + data[at + 26]!;
    if (body > data.length) break;
    const serial = data.readUInt32LE(at + 14);
    const stream = streams.get(serial) ?? { rate: rateAt(data, body), samples: 0 };
    if (streams.size < STREAMS_MAX) streams.set(serial, stream);
    const reached = data.readBigUInt64LE(at + 6);
    if (reached !== ENDS_IN_NO_SAMPLE) stream.samples = Math.max(stream.samples, Number(reached));
    at = body + sum(data.subarray(at + PAGE_HEAD_BYTES, body));
  }
  let seconds = 0;
  for (const { samples, rate } of streams.values()) seconds += samples / rate;
  return seconds;
}

function rateAt(data: Buffer, body: number): number {
  const head = data.toString('latin1', body, body + 8);
  if (head === 'OpusHead') return OPUS_RATE;
  if (!head.startsWith('\x01vorbis') || body + 16 > data.length) return LEAST_RATE;
  return data.readUInt32LE(body + 12) || LEAST_RATE;
}

function sum(lengths: Uint8Array): number {
  return lengths.reduce((all, one) => all + one, 0);
}

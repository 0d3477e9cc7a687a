/** How long a sound is, at most, in whole seconds: by its size and by what its header says, whichever is more. */
import type { MediaType } from '../core/state/attachment.js';
import { secondsOfOgg } from './ogg-seconds.js';

/** The least that MP3 takes; of other forms the header says more. */
const PACKED_BYTES_A_SECOND = 1_000;

export function soundSeconds(bytes: Uint8Array, mediaType: MediaType): number {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (mediaType === 'audio/wav') return whole(data.length / rateOfWav(data));
  const said = saidBy(data, mediaType);
  return whole(Math.max(said, data.length / PACKED_BYTES_A_SECOND));
}

function whole(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

function saidBy(data: Buffer, mediaType: MediaType): number {
  if (mediaType === 'audio/flac') return secondsOfFlac(data);
  return mediaType === 'audio/ogg' ? secondsOfOgg(data) : 0;
}

const CHUNK_HEAD_BYTES = 8;
const FORMAT_BYTES = 16;

/** Bytes a second: the least of what the header says in its several ways. */
function rateOfWav(data: Buffer): number {
  const at = formatOfWav(data);
  if (at === undefined) return PACKED_BYTES_A_SECOND;
  const channels = data.readUInt16LE(at + 2);
  const samples = data.readUInt32LE(at + 4);
  const frame = data.readUInt16LE(at + 12);
  const bits = data.readUInt16LE(at + 14);
  const rates = [data.readUInt32LE(at + 8), samples * frame, (samples * channels * bits) / 8];
  const said = rates.filter((rate) => rate > 0);
  return said.length === 0 ? PACKED_BYTES_A_SECOND : Math.min(...said);
}

/** Where the format is; other chunks may lie before it. */
function formatOfWav(data: Buffer): number | undefined {
  let at = 12;
  while (at + CHUNK_HEAD_BYTES + FORMAT_BYTES <= data.length) {
    if (data.toString('latin1', at, at + 4) === 'fmt ') return at + CHUNK_HEAD_BYTES;
    const size = data.readUInt32LE(at + 4);
    at += CHUNK_HEAD_BYTES + size + (size % 2);
  }
  return undefined;
}

/** Of its first block, which is fixed. */
const FLAC_RATE_AT = 18;

/** 0: it is not said. */
function secondsOfFlac(data: Buffer): number {
  if (data.length < FLAC_RATE_AT + 8) return 0;
  const rate = data.readUIntBE(FLAC_RATE_AT, 3) >> 4;
  const samples = (data[FLAC_RATE_AT + 3]! & 0xf) * 2 ** 32 + data.readUInt32BE(FLAC_RATE_AT + 4);
  return rate === 0 ? 0 : samples / rate;
}

/** How long a sound is, at most, in whole seconds. */
import type { MediaType } from '../core/state/attachment.js';

/** What is said of speech takes at least 8,000 bits a second in every packed form. */
const PACKED_BYTES_A_SECOND = 1_000;

export function soundSeconds(bytes: Uint8Array, mediaType: MediaType): number {
  const rate = mediaType === 'audio/wav' ? rateOfWav(bytes) : PACKED_BYTES_A_SECOND;
  return Math.max(1, Math.ceil(bytes.byteLength / rate));
}

/** As the header says, which the vendor goes by too. */
function rateOfWav(bytes: Uint8Array): number {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = data.indexOf('fmt ', 12, 'latin1');
  const rate = format === -1 || format + 20 > data.length ? 0 : data.readUInt32LE(format + 16);
  return Math.max(PACKED_BYTES_A_SECOND, rate);
}

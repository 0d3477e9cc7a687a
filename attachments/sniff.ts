/** What a file is by its first bytes, whatever its name or its sender says. */
import type { MediaType } from '../core/state/attachment.js';

/** Of the beginning of a file. */
const HEAD_BYTES = 1_024;
const HEAD_CHARS = Math.ceil(HEAD_BYTES / 3) * 4;

/** undefined: none of the media types that are taken. */
export function typeOf(bytes: Uint8Array): MediaType | undefined {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF[^]{4}WEBP/.test(head)) return 'image/webp';
  if (/^RIFF[^]{4}WAVE/.test(head)) return 'audio/wav';
  if (head.startsWith('%PDF-')) return 'application/pdf';
  if (head.startsWith('OggS')) return 'audio/ogg';
  if (head.startsWith('fLaC')) return 'audio/flac';
  if (head.startsWith('ID3') || /^\xff[\xf2\xf3\xfa\xfb]/.test(head)) return 'audio/mpeg';
  return undefined;
}

/** In one pass: the text may be hostile, and as long as the largest file. */
export function isBase64(text: string): boolean {
  if (/[^A-Za-z0-9+/=]/.test(text)) return false;
  const padding = text.indexOf('=');
  return padding === -1 || /^={1,2}$/.test(text.slice(padding, padding + 3));
}

/** Whether a text is the base64 of a file of this type. */
export function isOfType(base64: string, mediaType: MediaType): boolean {
  if (base64.length % 4 !== 0 || !isBase64(base64)) return false;
  return typeOf(Buffer.from(base64.slice(0, HEAD_CHARS), 'base64')) === mediaType;
}

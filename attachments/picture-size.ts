/** Width and height of a picture, from its header. Total: hostile bytes give undefined. */
import type { MediaType } from '../core/state/attachment.js';

export interface PictureSize {
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

export function pictureSize(bytes: Uint8Array, mediaType: MediaType): PictureSize | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = read(data, mediaType);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch {
    // A read beyond the end: the picture is cut off.
    return undefined;
  }
}

function read(data: Buffer, mediaType: MediaType): PictureSize | undefined {
  switch (mediaType) {
    case 'image/png':
      return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
    case 'image/gif':
      return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
    case 'image/jpeg':
      return ofJpeg(data);
    case 'image/webp':
      return ofWebp(data);
    default:
      return undefined;
  }
}

/** The first frame header; segments before it are stepped over. */
function ofJpeg(data: Buffer): PictureSize | undefined {
  let at = 2;
  while (at + 9 < data.length) {
    if (data[at] !== 0xff) return undefined;
    const marker = data[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) };
    // Fill bytes.
    at += marker === 0xff ? 1 : 2 + data.readUInt16BE(at + 2);
  }
  return undefined;
}

function ofWebp(data: Buffer): PictureSize | undefined {
  const form = data.toString('latin1', 12, 16);
  if (form === 'VP8X')
    return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
  if (form === 'VP8 ') {
    return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
  }
  if (form !== 'VP8L') return undefined;
  const bits = data.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}

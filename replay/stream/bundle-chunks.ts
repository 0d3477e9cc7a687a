/** The text of a bundle's file in chunks, unpacked where it is packed; no more of it than a bundle may have. */
import { createHash } from 'node:crypto';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { BUNDLE_BYTES_MAX } from '../bundle.js';
import { NotCanonical } from './json-pieces.js';

const CHUNK_BYTES = 256 * 1024;
const GZIP_MAGIC = [0x1f, 0x8b] as const;

export interface TextOfFile {
  /** Its file is open until its end, or until `return`. Errors: `NotCanonical` for what is larger, or cannot be read or unpacked. */
  readonly chunks: AsyncGenerator<string, void>;
  /** Reads what is left, and gives the SHA-256 of all of the text: two readings with the same one have read the same. */
  digest(): Promise<string>;
}

export function textOfFile(file: string): TextOfFile {
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<string, void> {
    for await (const chunk of bundleChunks(file)) {
      hash.update(chunk, 'utf8');
      yield chunk;
    }
  }
  const chunks = hashed();
  async function rest(): Promise<string> {
    for await (const _ of chunks);
    return hash.digest('hex');
  }
  let digest: Promise<string> | undefined;
  return { chunks, digest: () => (digest ??= rest()) };
}

/** Errors: `NotCanonical` for what is larger than a bundle may be, or cannot be read or unpacked. */
export async function* bundleChunks(file: string): AsyncGenerator<string, void> {
  const decoder = new StringDecoder('utf8');
  let handle: FileHandle | undefined;
  let bytes = 0;
  try {
    // What is no file, such as a pipe, might never come to an end.
    if (!(await stat(file)).isFile()) throw new NotCanonical('it is no file');
    handle = await open(file, 'r');
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    const isPacked = buffer[0] === GZIP_MAGIC[0] && buffer[1] === GZIP_MAGIC[1];
    for await (const chunk of isPacked ? unpackedOf(handle) : chunksOf(handle)) {
      bytes += chunk.length;
      if (bytes > BUNDLE_BYTES_MAX) throw new NotCanonical('it is too large');
      yield decoder.write(chunk);
    }
    yield decoder.end();
  } catch (cause) {
    throw cause instanceof NotCanonical ? cause : new NotCanonical('it cannot be read', { cause });
  } finally {
    await handle?.close();
  }
}

/** Each is good until the next is asked for. A stream of the file would take several times as long. */
async function* chunksOf(handle: FileHandle): AsyncGenerator<Buffer, void> {
  const room = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let at = 0; ;) {
    const { bytesRead } = await handle.read(room, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield room.subarray(0, bytesRead);
  }
}

function unpackedOf(handle: FileHandle): AsyncIterable<Buffer> {
  const raw = handle.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES, autoClose: false });
  // Errors come out where the chunks are read.
  return pipeline(raw, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
}

const SECOND_HALF = /[\uDC00-\uDFFF]/;

/** The digest of a text that ends before these words, and a brace in their place; and the one of all of it. */
export function hashedBefore(words: string) {
  const hash = createHash('sha256');
  let tail = '';
  let digest: string | undefined;
  return {
    passed(text: string): void {
      if (digest !== undefined) return void hash.update(text, 'utf8');
      const whole = tail + text;
      const at = Math.max(0, whole.length - words.length);
      // Half of a pair of surrogates has no bytes of its own.
      tail = whole.slice(SECOND_HALF.test(whole.charAt(at)) ? at - 1 : at);
      hash.update(whole.slice(0, whole.length - tail.length), 'utf8');
    },
    /** The words have just passed. */
    end(): string {
      if (digest === undefined) {
        if (tail !== words) throw new NotCanonical('it has no digest');
        digest = hash.copy().update('}').digest('hex');
        hash.update(words, 'utf8');
      }
      return digest;
    },
    ofAll: () => hash.digest('hex'),
  };
}

/**
 * Large texts under the sha256 of their UTF-8 bytes.
 * Invariants: a stored text is valid Unicode, an unpaired surrogate having become U+FFFD on its way in,
 * inline or not; equal texts share one row; a blob is never changed.
 */
import { hash } from 'node:crypto';
import { HoldfastError } from '../core/state/errors.js';
import {
  INLINE_BYTES_MAX,
  PREVIEW_CHARS,
  type BlobRef,
  type StoredText,
  textFitsBytes,
} from '../core/json/json.js';
import { checkIdentifiers, wellFormed } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import type { BlobTable } from './schema.js';
import { NEWER_BACKUP } from './newer-backup.js';

/** Largest single text, in bytes. */
export const BLOB_BYTES_MAX = 64 * 1024 * 1024;
const HASHES_PER_QUERY = 500;

export interface Blobs {
  /** Stores a text; idempotent. Errors: `InvalidRequest` above BLOB_BYTES_MAX. */
  putBlob(tenant: string, text: string): Promise<BlobRef>;
  getBlob(tenant: string, hash: string): Promise<string | undefined>;
  /** Stores contents of files, by the sha256 of their bytes; idempotent. Errors: as `putBlob`. */
  putContents(tenant: string, contents: Iterable<Uint8Array>): Promise<void>;
  /** Those that are there, by their sha256. */
  getContents(tenant: string, hashes: Iterable<string>): Promise<ReadonlyMap<string, Buffer>>;
  /** Inline up to INLINE_BYTES_MAX bytes, else a blob with a preview of PREVIEW_CHARS characters. */
  putText(tenant: string, text: string): Promise<StoredText>;
  /** Errors: `TranscriptMissing` when the blob is not there. */
  getText(tenant: string, stored: StoredText): Promise<string>;
}

/** A text on its way into the store. */
export interface BlobContent {
  readonly ref: BlobRef;
  readonly content: Buffer;
}

export function blobs(db: Db): Blobs {
  return {
    async putBlob(tenant, text) {
      const blob = blobOf(text);
      await writeBlobs(db, tenant, [blob]);
      return blob.ref;
    },
    async getBlob(tenant, hash) {
      return readBlob(db, tenant, hash);
    },
    async putContents(tenant, contents) {
      checkIdentifiers({ tenant });
      for (const batch of batches([...contents].map(blobOfBytes)))
        await writeBlobs(db, tenant, batch);
    },
    async getContents(tenant, hashes) {
      return readContents(db, tenant, [...new Set(hashes)]);
    },
    async putText(tenant, text) {
      checkIdentifiers({ tenant });
      // Most texts are small: they need no hash.
      if (textFitsBytes(text, INLINE_BYTES_MAX)) return { text: wellFormed(text) };
      const blob = blobOf(text);
      await writeBlobs(db, tenant, [blob]);
      return { ...blob.ref, preview: beginningOf(blob.content.toString('utf8')) };
    },
    async getText(tenant, stored) {
      if ('text' in stored) return stored.text;
      const text = await readBlob(db, tenant, stored.$blob);
      if (text === undefined) throw missingBlob(stored.$blob);
      return text;
    },
  };
}

/** Bytes and name of a text. Errors: `InvalidRequest` above BLOB_BYTES_MAX. */
export function blobOf(text: string): BlobContent {
  return blobOfBytes(Buffer.from(text, 'utf8'));
}

function blobOfBytes(bytes: Uint8Array): BlobContent {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (content.length > BLOB_BYTES_MAX) {
    throw new HoldfastError('InvalidRequest', `A text of ${content.length} bytes is too large.`, {
      hint: `Store texts of at most ${BLOB_BYTES_MAX} bytes.`,
    });
  }
  return { ref: { $blob: sha256OfBytes(content), bytes: content.length }, content };
}

export function sha256OfBytes(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

const INSERT = `
  insert into blobs (tenant, hash, content) values (@tenant, @hash, @content)
  on conflict do nothing`;

/** Writes blobs in one statement; those that are there already stay as they are. */
export async function writeBlobs(
  db: Db,
  tenant: string,
  contents: readonly BlobContent[],
): Promise<void> {
  checkIdentifiers({ tenant });
  const [first] = contents;
  if (first === undefined) return;
  if (contents.length === 1) {
    await change(db, INSERT, { tenant, hash: first.ref.$blob, content: first.content });
    return;
  }
  await db
    .insertInto('blobs')
    .values(contents.map(({ ref, content }) => ({ tenant, hash: ref.$blob, content })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function readBlob(db: Db, tenant: string, hash: string): Promise<string | undefined> {
  checkIdentifiers({ tenant });
  const statement = 'select content from blobs where tenant = @tenant and hash = @hash';
  const [row] = await rowsOf<Pick<BlobTable, 'content'>>(db, statement, { tenant, hash });
  return row === undefined ? undefined : textOf(row.content);
}

/** Of one statement: few parameters, and little memory. */
const BATCH = { blobs: 100, bytes: 8 * 1024 * 1024 };

function batches(blobs: readonly BlobContent[]): readonly (readonly BlobContent[])[] {
  const unique = [...new Map(blobs.map((blob) => [blob.ref.$blob, blob])).values()];
  const all: BlobContent[][] = [];
  let bytes = Infinity;
  for (const blob of unique) {
    const last = all.at(-1);
    bytes += blob.content.length;
    if (last === undefined || last.length >= BATCH.blobs || bytes > BATCH.bytes) {
      all.push([blob]);
      bytes = blob.content.length;
    } else {
      last.push(blob);
    }
  }
  return all;
}

/** The texts of those hashes that exist. */
export async function readBlobs(
  db: Db,
  tenant: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const contents = await readContents(db, tenant, hashes);
  return new Map([...contents].map(([hash, content]) => [hash, content.toString('utf8')]));
}

async function readContents(
  db: Db,
  tenant: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  checkIdentifiers({ tenant });
  const contents = new Map<string, Buffer>();
  for (let from = 0; from < hashes.length; from += HASHES_PER_QUERY) {
    const rows = await db
      .selectFrom('blobs')
      .select(['hash', 'content'])
      .where('tenant', '=', tenant)
      .where('hash', 'in', hashes.slice(from, from + HASHES_PER_QUERY))
      .execute();
    for (const row of rows) contents.set(row.hash, bytesOf(row.content));
  }
  return contents;
}

function textOf(content: Uint8Array): string {
  return bytesOf(content).toString('utf8');
}

function bytesOf(content: Uint8Array): Buffer {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

export function missingBlob(hash: string): HoldfastError {
  return new HoldfastError('TranscriptMissing', `The store has no text ${hash}.`, {
    hint: NEWER_BACKUP,
    details: { hash },
  });
}

/** The first PREVIEW_CHARS characters, one less where that would split a surrogate pair. */
export function beginningOf(text: string): string {
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(PREVIEW_CHARS - 1));
  return text.slice(0, splits && text.length > PREVIEW_CHARS ? PREVIEW_CHARS - 1 : PREVIEW_CHARS);
}

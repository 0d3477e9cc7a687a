/**
 * Texts on a disk between their reading and their writing, so that no process holds all of them.
 * Invariants: the file has no name as soon as it is open, so nothing of it is left behind, however the process ends; its
 * bytes are enciphered with a key that this process alone has, because some disks keep files and free blocks all the same;
 * what was put is read back as it was.
 */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';

/** Where a text lies, in bytes. */
export interface Stretch {
  readonly at: number;
  readonly bytes: number;
}

export interface Spool {
  /** One text, made of pieces. */
  put(pieces: Iterable<string> | AsyncIterable<string>): Promise<Stretch>;
  /** In pieces of at most PIECE_BYTES, cut between any two bytes. */
  read(stretch: Stretch): AsyncGenerator<Buffer, void>;
  close(): Promise<void>;
}

const PIECE_BYTES = 256 * 1024;

/** `folder`: on a disk that has room for a bundle. Errors, here and of what is put there: `FileUnusable`. */
export async function openSpool(folder: string): Promise<Spool> {
  const refused = (cause: unknown): never => {
    throw unusableSpool(folder, cause);
  };
  const file = join(folder, `.${randomUUID()}.spool`);
  const handle = await open(file, 'wx+', 0o600).catch(refused);
  await unlink(file).catch(async (cause: unknown) => {
    await handle.close();
    return refused(cause);
  });
  return spoolIn({
    write: (...given) => handle.write(...given).catch(refused),
    read: (...given) => handle.read(...given).catch(refused),
    close: () => handle.close(),
  });
}

/** What a disk is asked for. */
interface Disk extends Pick<FileHandle, 'close'> {
  write(
    ...given: [bytes: Buffer, offset: number, length: number, position: number]
  ): Promise<{ readonly bytesWritten: number }>;
  read(
    ...given: [bytes: Buffer, offset: number, length: number, position: number]
  ): Promise<{ readonly bytesRead: number }>;
}

/** Of a file without a name people know the folder. */
function unusableSpool(folder: string, cause: unknown): HoldfastError {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  return new HoldfastError(
    'FileUnusable',
    `The folder ${folder.slice(-FOLDER_CHARS_MAX)} cannot keep the parts of a run that are read (${code}).`,
    {
      hint: 'Free disk space there (a redacted export needs five times its bundle), or give this user the right to write. Another folder: -o for an export, TMPDIR for other commands.',
      details: { code, folder },
      cause,
    },
  );
}

const FOLDER_CHARS_MAX = 400;

const CIPHER = 'aes-256-ctr';
const BLOCK_BYTES = 16;

interface Secret {
  encipher(bytes: Buffer): Buffer;
  /** Of bytes from there on. */
  decipherFrom(at: number): (bytes: Buffer) => Buffer;
}

function newSecret(): Secret {
  const key = randomBytes(32);
  // Counts blocks from 0 on: a key is used for one file.
  const counterAt = (at: number): Buffer => {
    const counter = Buffer.alloc(BLOCK_BYTES);
    counter.writeBigUInt64BE(BigInt(Math.floor(at / BLOCK_BYTES)), BLOCK_BYTES / 2);
    return counter;
  };
  const cipher = createCipheriv(CIPHER, key, counterAt(0));
  return {
    encipher: (bytes) => cipher.update(bytes),
    decipherFrom(at) {
      const decipher = createDecipheriv(CIPHER, key, counterAt(at));
      decipher.update(Buffer.alloc(at % BLOCK_BYTES));
      return (bytes) => decipher.update(bytes);
    },
  };
}

function spoolIn(handle: Disk): Spool {
  const secret = newSecret();
  let end = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;

  async function flush(): Promise<void> {
    const bytes = secret.encipher(Buffer.concat(waiting));
    waiting = [];
    waitingBytes = 0;
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, end);
      done += bytesWritten;
      end += bytesWritten;
    }
  }

  return {
    async put(pieces) {
      const at = end + waitingBytes;
      for await (const piece of pieces) {
        const bytes = Buffer.from(piece, 'utf8');
        waiting.push(bytes);
        waitingBytes += bytes.length;
        if (waitingBytes >= PIECE_BYTES) await flush();
      }
      return { at, bytes: end + waitingBytes - at };
    },
    async *read({ at, bytes }) {
      if (waitingBytes > 0) await flush();
      const decipher = secret.decipherFrom(at);
      for (let done = 0; done < bytes;) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes - done));
        const { bytesRead } = await handle.read(piece, 0, piece.length, at + done);
        if (bytesRead === 0) throw new Error('the spool is shorter than what was put there');
        done += bytesRead;
        yield decipher(piece.subarray(0, bytesRead));
      }
    },
    close: () => handle.close(),
  };
}

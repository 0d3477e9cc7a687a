/**
 * Files on their way into a conversation: they go into the store of the workers, and the run gets references.
 * Invariant: no bytes of a file go through Temporal.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import { ATTACHMENTS_MAX, MEDIA_BYTES_MAX, type Attachment } from '../../core/state/attachment.js';
import { parseAttachment } from '../../core/messages/parse-attachments.js';
import { prepareAttachment, type AttachmentSource } from '../../attachments/attach.js';
import { storeOf, type Link } from '../link.js';

/** A file of this machine. */
export interface AttachedPath {
  readonly path: string;
  /** Default: the name of the file. */
  readonly name?: string;
  readonly mediaType?: string;
}

/** What can be attached: a file in memory, one of this machine, or what `attach` has given. */
export type Attachable = Attachment | AttachmentSource | AttachedPath;

/** Of a follow-up. */
export interface MessageOptions {
  /** The same id again is ignored; default: a new one. */
  readonly id?: string;
  readonly attachments?: readonly Attachable[];
}

/**
 * Puts a file into the store; the same file again is one. Errors: UnsupportedContent for what no model reads, what is too
 * large or what is not of the type that was said; StoreUnavailable without a store.
 */
export async function attach(link: Link, given: Attachable): Promise<Attachment> {
  if (typeof given !== 'object' || given === null)
    throw unusable('it is no file', 'Give { data }, { path } or what attach has given.');
  if ('$blob' in given) {
    const parsed = parseAttachment(given);
    if (parsed.ok) return parsed.value;
    throw unusable(parsed.reason, 'Attach the file again.');
  }
  const { attachment, text } = prepareAttachment('path' in given ? await readSource(given) : given);
  const store = storeOf(link);
  if (store.putBlob === undefined)
    throw new HoldfastError('StoreUnavailable', 'The store of this client cannot be written.', {
      hint: 'Connect with the store of your workers, opened with openStore.',
    });
  await store.putBlob(link.tenant, text);
  return attachment;
}

/** undefined: there are none. */
export async function attachAll(
  link: Link,
  given: readonly Attachable[] | undefined,
): Promise<readonly Attachment[] | undefined> {
  if (given === undefined) return undefined;
  if (!Array.isArray(given)) throw unusable('attachments must be a list', 'Give a list of files.');
  if (given.length > ATTACHMENTS_MAX)
    throw unusable(`there are ${given.length}`, `Attach at most ${ATTACHMENTS_MAX} files.`);
  const attachments: Attachment[] = [];
  for (const one of given) attachments.push(await attach(link, one));
  return attachments.length === 0 ? undefined : attachments;
}

const FILE_BYTES_MAX = Math.max(...Object.values(MEDIA_BYTES_MAX));

async function readSource(given: AttachedPath): Promise<AttachmentSource> {
  const { path, name = basename(path), mediaType } = given;
  const data = await readBounded(path, name);
  return { data, name, ...(mediaType !== undefined && { mediaType }) };
}

async function readBounded(path: string, name: string): Promise<Uint8Array> {
  // A pipe would be waited for until somebody writes into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw unusable(`${name} cannot be read (${why})`, 'Name a file that can be read.');
    },
  );
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw unusable(`${name} is no file`, 'Name a file.');
    if (facts.size > FILE_BYTES_MAX) {
      const why = `${name} has ${facts.size} bytes; ${FILE_BYTES_MAX} are allowed`;
      throw unusable(why, 'Attach a smaller one.');
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function unusable(why: string, hint: string): HoldfastError {
  return new HoldfastError('UnsupportedContent', `The attachments cannot be used: ${why}.`, {
    hint,
  });
}

/**
 * Attachments of a conversation as a request has them: their bytes, or words in their place.
 * Invariants: only what the model of the route reads is sent, and only bytes that are what their reference says; a
 * request has at most so many and so much of them, the newest first.
 */
import { HoldfastError } from '../../core/state/errors.js';
import {
  ATTACHED_BYTES_MAX,
  fileBytes,
  kindOf,
  SENT_MAX,
  type Attachment,
  type MediaKind,
} from '../../core/state/attachment.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { AttachedFile } from '../../core/state/transcript.js';
import { isTaken } from '../../core/step/media.js';
import { isAsSaid } from '../../attachments/stored.js';
import type { StoreCalls } from '../../store/store.js';
import type { HashedNode } from '../../store/transcripts.js';
import { attachmentsOf, hasAttachments } from './node-attachments.js';

export interface FileReader {
  readonly store: Pick<StoreCalls, 'getText'>;
  readonly tenant: string;
  readonly route: Pick<ModelRoute, 'takes'>;
  /** What is sent of all that the conversation has. */
  readonly sent: ReadonlySet<Attachment>;
}

/** The newest that the model reads and that have room. */
export function sentOf(
  nodes: readonly HashedNode[],
  route: FileReader['route'],
): ReadonlySet<Attachment> {
  const { documentPages = Number.POSITIVE_INFINITY } = route.takes ?? {};
  const sent = new Set<Attachment>();
  let bytes = 0;
  let pages = 0;
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const { blocks } = nodes[at]!;
    // Few messages have any, and each request looks through all of them.
    if (!blocks.some(hasAttachments)) continue;
    for (const one of blocks.flatMap(attachmentsOf).filter((each) => isTaken(each, route))) {
      bytes += fileBytes(one);
      pages += one.pages ?? 0;
      const hasRoom = bytes <= ATTACHED_BYTES_MAX && pages <= documentPages;
      if (sent.size >= SENT_MAX || !hasRoom) return sent;
      sent.add(one);
    }
  }
  return sent;
}

type Shown =
  | { readonly file: AttachedFile; readonly words?: undefined }
  | { readonly file?: undefined; readonly words: string };

export async function fileOf(
  { store, tenant, route, sent }: FileReader,
  attachment: Attachment,
): Promise<Shown> {
  if (!isTaken(attachment, route)) return { words: inWords(attachment, 'unread') };
  if (!sent.has(attachment)) return { words: inWords(attachment, 'old') };
  const { mediaType, name, $blob, bytes } = attachment;
  const data = await store.getText(tenant, { $blob, bytes, preview: '' }).catch(ifMissing);
  if (data === undefined) return { words: inWords(attachment, 'gone') };
  if (!isAsSaid(data, attachment)) return { words: inWords(attachment, 'other') };
  return { file: { mediaType, data, ...(name !== undefined && { name }) } };
}

function ifMissing(error: unknown): undefined {
  if (error instanceof HoldfastError && error.code === 'TranscriptMissing') return undefined;
  throw error;
}

const KINDS: { readonly [kind in MediaKind]: string } = {
  image: 'picture',
  document: 'document',
  sound: 'recording',
};
const WHY = {
  unread: 'this model does not read files of this kind',
  old: 'newer files take the room of this request',
  gone: 'its bytes are not in the store any more',
  other: 'what is stored is not what its reference says',
} as const;

function inWords(attachment: Attachment, why: keyof typeof WHY): string {
  const { name, mediaType } = attachment;
  const named = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  const size = `${mediaType}, ${fileBytes(attachment)} bytes`;
  return `[The ${KINDS[kindOf(attachment)]}${named} (${size}) is not shown: ${WHY[why]}.]`;
}

/**
 * What attachments count as, in tokens.
 * Invariant: a model that does not read a kind is told of it in words, which count as well.
 */
import {
  ATTACHED_BYTES_MAX,
  kindOf,
  MEDIA_BYTES_MAX,
  PAGE_TEXT_BYTES,
  SENT_MAX,
  type Attachment,
  type MediaCount,
  type MediaKind,
  type MediaTaken,
} from '../state/attachment.js';
import type { ModelRoute } from '../state/model.js';

/** Most tokens of a name, or of the words in place of what a model does not read. */
const WORDS_TOKENS = 600;
const NONE: MediaCount = { images: 0, documents: 0, pages: 0, sounds: 0, seconds: 0 };

/** undefined: there are none. */
export function countMedia(attachments: readonly Attachment[]): MediaCount | undefined {
  return attachments.length === 0 ? undefined : attachments.reduce(added, NONE);
}

function added(count: MediaCount, one: Attachment): MediaCount {
  switch (kindOf(one)) {
    case 'image':
      return { ...count, images: count.images + 1 };
    case 'document':
      return withDocument(count, one);
    case 'sound':
      return { ...count, sounds: count.sounds + 1, seconds: count.seconds + (one.seconds ?? 1) };
  }
}

function withDocument(count: MediaCount, { pages = 1, textBytes = 0 }: Attachment): MediaCount {
  return {
    ...count,
    documents: count.documents + 1,
    pages: count.pages + pages,
    ...withText(count.text, Math.max(0, textBytes - pages * PAGE_TEXT_BYTES)),
  };
}

function withText(before = 0, more = 0): Pick<MediaCount, 'text'> {
  return before + more === 0 ? {} : { text: before + more };
}

/** Most tokens that they have for the model of a route: all of them words, and files as many as a request may have. */
export function mediaTokens(
  count: MediaCount | undefined,
  { takes = {} }: Pick<ModelRoute, 'takes'>,
): number {
  if (count === undefined) return 0;
  const { images, documents, pages, text = 0, sounds, seconds } = count;
  const words = (images + documents + sounds) * WORDS_TOKENS;
  return (
    words +
    Math.min(images, SENT_MAX) * (takes.image ?? 0) +
    Math.min(pages, takes.documentPages ?? pages) * (takes.documentPage ?? 0) +
    (takes.documentPage === undefined ? 0 : text) +
    seconds * (takes.soundSecond ?? 0)
  );
}

/** Whether some of them may have been words in the last request, for want of room, and files in the next. */
export function mayLackRoom(
  { images, documents, pages, sounds }: MediaCount,
  { takes = {} }: Pick<ModelRoute, 'takes'>,
): boolean {
  const bytes =
    images * MEDIA_BYTES_MAX.image +
    documents * MEDIA_BYTES_MAX.document +
    sounds * MEDIA_BYTES_MAX.sound;
  const isMany = images + documents + sounds > SENT_MAX || bytes > ATTACHED_BYTES_MAX;
  return isMany || pages > (takes.documentPages ?? pages);
}

export function sumMedia(a: MediaCount | undefined, b: MediaCount): MediaCount {
  if (a === undefined) return b;
  return {
    images: a.images + b.images,
    documents: a.documents + b.documents,
    pages: a.pages + b.pages,
    ...withText(a.text, b.text),
    sounds: a.sounds + b.sounds,
    seconds: a.seconds + b.seconds,
  };
}

const FIELDS: { readonly [kind in MediaKind]: keyof MediaTaken } = {
  image: 'image',
  document: 'documentPage',
  sound: 'soundSecond',
};

export function isTaken(
  one: Pick<Attachment, 'mediaType'>,
  { takes = {} }: Pick<ModelRoute, 'takes'>,
): boolean {
  return takes[FIELDS[kindOf(one)]] !== undefined;
}

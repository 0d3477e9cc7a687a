/** Pictures, documents and sounds on their way to a vendor. */
import type { AttachedFile, Block } from '../core/state/transcript.js';

export function isPicture({ mediaType }: Pick<AttachedFile, 'mediaType'>): boolean {
  return mediaType.startsWith('image/');
}

export function isPdf({ mediaType }: Pick<AttachedFile, 'mediaType'>): boolean {
  return mediaType === 'application/pdf';
}

export function dataUrl({ mediaType, data }: AttachedFile): string {
  return `data:${mediaType};base64,${data}`;
}

/** Vendors want a name of a document. */
export function nameOf({ name, mediaType }: AttachedFile): string {
  return name ?? (mediaType === 'application/pdf' ? 'document.pdf' : 'file');
}

/** In place of what the protocol has no form for. */
export function unsentWords({ name, mediaType }: AttachedFile): string {
  const named = name === undefined ? 'A file' : `The file ${JSON.stringify(name)}`;
  return `[${named} (${mediaType}) cannot be sent to this vendor.]`;
}

/** Of the results in a message, for vendors that take texts alone in a result. */
export function filesOfResults(
  blocks: readonly Block[],
): readonly { readonly id: string; readonly files: readonly AttachedFile[] }[] {
  return blocks.flatMap((block) =>
    block.type === 'tool_result' && block.files !== undefined
      ? [{ id: block.id, files: block.files }]
      : [],
  );
}

/** What messages of a conversation have beside their texts. */
import type { Attachment, MediaCount } from '../../core/state/attachment.js';
import type { StoredBlock } from '../../core/state/transcript.js';
import { countMedia } from '../../core/step/media.js';
import type { HashedNode } from '../../store/transcripts.js';

/** How much there is of each kind; undefined: nothing. */
export function mediaOf(nodes: readonly HashedNode[]): MediaCount | undefined {
  return countMedia(nodes.flatMap(({ blocks }) => blocks.flatMap(attachmentsOf)));
}

export function attachmentsOf(block: StoredBlock): readonly Attachment[] {
  if (block.type === 'attachment') return [block.attachment];
  return block.type === 'tool_result' ? (block.attachments ?? []) : [];
}

export function hasAttachments(block: StoredBlock): boolean {
  if (block.type === 'tool_result') return block.attachments !== undefined;
  return block.type === 'attachment';
}

/** Messages as expectations look at them. */
import type { Block } from '../../core/state/transcript.js';
import type { RequestMessage } from '../../providers/provider.js';
import type { SeenMessage } from '../engine.js';

type Facts = Pick<SeenMessage, 'messageId' | 'synthetic' | 'partial'>;

const NO_FACTS: Facts = { messageId: '', synthetic: false, partial: false };

/** Of a request only role and content are known. */
export function seenMessage(
  { role, blocks }: Pick<RequestMessage, 'role' | 'blocks'>,
  facts: Facts = NO_FACTS,
): SeenMessage {
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result'
      ? [{ id: block.id, isError: block.isError, text: block.text }]
      : [],
  );
  return {
    ...facts,
    letter: role === 'assistant' ? 'A' : results.length > 0 ? 'R' : 'U',
    text: textOf(blocks),
    calls: blocks.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, tool: block.tool, args: block.args }] : [],
    ),
    results,
    ...filesIn(blocks),
  };
}

function filesIn(blocks: readonly Block[]): Pick<SeenMessage, 'files'> {
  const files = blocks.flatMap((block) => {
    if (block.type === 'file') return [block.mediaType];
    return block.type === 'tool_result' ? (block.files ?? []).map((one) => one.mediaType) : [];
  });
  return files.length === 0 ? {} : { files };
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Files of a request in words, for whoever looks at a recorded moment: nobody reads base64. */
import type { AttachedFile, Block } from '../core/state/transcript.js';
import type { ModelRequest } from '../providers/provider.js';

export function withFilesInWords<Request extends ModelRequest>(request: Request): Request {
  const messages = request.messages.map((message) => ({
    ...message,
    blocks: message.blocks.map(inWords),
  }));
  return { ...request, messages };
}

function inWords(block: Block): Block {
  if (block.type === 'file') return { type: 'text', text: wordsOf(block) };
  if (block.type !== 'tool_result' || block.files === undefined) return block;
  const { files, ...result } = block;
  return { ...result, text: [result.text, ...files.map(wordsOf)].join('\n') };
}

function wordsOf({ mediaType, name, data }: AttachedFile): string {
  const named = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  return `[${mediaType}${named}, ${Math.floor((data.length * 3) / 4)} bytes]`;
}

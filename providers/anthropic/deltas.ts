/** What each event of a Messages stream adds to its message. */
import type { ModelDelta } from '../../pure/stream.js';
import { blockNumbers, eventData, numberAt, pieceOf, type ReadDeltas } from '../deltas.js';
import {
  isRecord,
  listAt,
  recordAt,
  textAt,
  type JsonRecord,
  type MutableRecord,
} from '../json-record.js';

export function readMessageDeltas(): ReadDeltas {
  const numberOf = blockNumbers();
  return (event) => {
    const data = eventData(event);
    if (data['type'] === 'message_start') {
      const content = listAt(recordAt(data, 'message'), 'content');
      return content.flatMap((whole, index) =>
        isRecord(whole) ? begun(whole, () => numberOf(index)) : [],
      );
    }
    const block = (): number => numberOf(numberAt(data, 'index'));
    if (data['type'] === 'content_block_start')
      return begun(recordAt(data, 'content_block'), block);
    return data['type'] === 'content_block_delta' ? added(data, block) : [];
  };
}

/** Blocks of the vendor's own that are no text show nothing. */
function begun(content: JsonRecord, block: () => number): readonly ModelDelta[] {
  switch (textAt(content, 'type')) {
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const named = { id: textAt(content, 'id'), tool: textAt(content, 'name') };
      return [{ type: 'tool_use', block: block(), text: '', ...named }];
    }
    case 'text':
      return pieceOf('text', block, textAt(content, 'text'));
    case 'thinking':
      return pieceOf('thinking', block, textAt(content, 'thinking'));
    default:
      return [];
  }
}

function added(data: MutableRecord, block: () => number): readonly ModelDelta[] {
  const delta = recordAt(data, 'delta');
  switch (textAt(delta, 'type')) {
    case 'text_delta':
      return pieceOf('text', block, textAt(delta, 'text'));
    case 'thinking_delta':
      return pieceOf('thinking', block, textAt(delta, 'thinking'));
    case 'input_json_delta': {
      const text = textAt(delta, 'partial_json');
      return text === '' ? [] : [{ type: 'tool_use', block: block(), text }];
    }
    default:
      return [];
  }
}

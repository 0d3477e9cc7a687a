/** What each event of a streamed response adds to its message. */
import type { ModelDelta } from '../../pure/stream.js';
import { blockNumbers, eventData, numberAt, pieceOf, type ReadDeltas } from '../deltas.js';
import { recordAt, textAt, type JsonRecord } from '../json-record.js';

export function readResponseDeltas(): ReadDeltas {
  const numberOf = blockNumbers();
  return (event) => {
    const data = eventData(event);
    const block = (): number => numberOf(numberAt(data, 'output_index'));
    const delta = textAt(data, 'delta');
    switch (textAt(data, 'type') || event.event) {
      case 'response.output_item.added':
        return begun(recordAt(data, 'item'), block);
      case 'response.output_text.delta':
        return pieceOf('text', block, delta);
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return pieceOf('thinking', block, delta);
      case 'response.function_call_arguments.delta':
        return delta === '' ? [] : [{ type: 'tool_use', block: block(), text: delta }];
      default:
        return [];
    }
  };
}

function begun(item: JsonRecord, block: () => number): readonly ModelDelta[] {
  if (textAt(item, 'type') !== 'function_call') return [];
  const named = { id: textAt(item, 'call_id'), tool: textAt(item, 'name') };
  return [{ type: 'tool_use', block: block(), text: '', ...named }];
}

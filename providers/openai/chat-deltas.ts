/** What each chunk of a chat completion adds to its message. */
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

type NumberOf = ReturnType<typeof blockNumbers>;

export function readChatDeltas(): ReadDeltas {
  const numberOf = blockNumbers();
  const idAt = new Map<number, string>();
  return (event) =>
    listAt(eventData(event), 'choices').flatMap((choice) => {
      if (!isRecord(choice) || (choice['index'] ?? 0) !== 0) return [];
      const delta = recordAt(choice, 'delta');
      const calls = listAt(delta, 'tool_calls').filter(isRecord);
      return [
        ...pieceOf('thinking', () => numberOf('thinking'), reasoningOf(delta)),
        ...pieceOf('text', () => numberOf('text'), textAt(delta, 'content')),
        ...calls.flatMap((call) => callDelta(call, idAt, numberOf)),
      ];
    });
}

/** One vendor's word or the other's; gateways send both with the same text. */
function reasoningOf(delta: JsonRecord): string {
  return textAt(delta, 'reasoning_content') || textAt(delta, 'reasoning');
}

/** Some gateways give every call the same index: another id is another call. */
function callDelta(
  call: MutableRecord,
  idAt: Map<number, string>,
  numberOf: NumberOf,
): readonly ModelDelta[] {
  const index = numberAt(call, 'index');
  const before = idAt.get(index);
  const id = textAt(call, 'id') || (before ?? '');
  const said = recordAt(call, 'function');
  const text = textAt(said, 'arguments');
  const block = numberOf(`call ${index} ${id}`);
  if (before === id) return text === '' ? [] : [{ type: 'tool_use', block, text }];
  idAt.set(index, id);
  return [{ type: 'tool_use', block, text, id, tool: textAt(said, 'name') }];
}

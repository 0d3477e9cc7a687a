/** What each part of a reply adds to its message, for whoever reads along. */
import type { ModelDelta } from '../../pure/stream.js';
import { blockNumbers, pieceOf } from '../deltas.js';
import type { StreamPart } from './assembly.js';

const NAME_CHARS_MAX = 256;

/** Takes a part that the assembly has accepted. Total: what shows nothing gives nothing. */
export function readPartDeltas(): (part: StreamPart) => readonly ModelDelta[] {
  const numberOf = blockNumbers();
  // Packages give later parts of a reply the id of an earlier one.
  let opened = 0;
  const places = new Map<string, number>();
  const open = (kind: string, id: unknown): void =>
    void places.set(`${kind} ${textOf(id)}`, (opened += 1));
  return (part) => {
    const { type } = part;
    const text = textOf(part['delta']);
    const block = (kind: string, id: unknown) => (): number => {
      const key = `${kind} ${textOf(id)}`;
      return numberOf(`${key} ${places.get(key) ?? 0}`);
    };
    switch (type) {
      case 'text-delta':
        return pieceOf('text', block('text', part['id']), text);
      case 'reasoning-delta':
        return pieceOf('thinking', block('thinking', part['id']), text);
      case 'text-start':
        open('text', part['id']);
        return [];
      case 'reasoning-start':
        open('thinking', part['id']);
        return [];
      case 'tool-input-start': {
        const id = textOf(part['id']);
        const tool = textOf(part['toolName']).slice(0, NAME_CHARS_MAX);
        return [{ type: 'tool_use', block: block('call', id)(), text: '', id, tool }];
      }
      case 'tool-input-delta':
        return text === '' ? [] : [{ type: 'tool_use', block: block('call', part['id'])(), text }];
      default:
        return [];
    }
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

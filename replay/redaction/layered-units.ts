/**
 * A text whose layers of escapes can be written to, unit by unit.
 * Invariant: the text keeps its length, and an escape stays one.
 */
import { beginningsOf, escapedAs, layersOf } from './escapes.js';

const UNIT_BYTES = 2;

export interface Units {
  /** As it was before anything was written. */
  layer(depth: number): string;
  /** Where in the text a unit of a layer begins. */
  placeOf(depth: number, index: number): number;
  write(depth: number, index: number, unit: string): void;
  text(): string;
}

/** Layers deeper than `depth` are not written to. */
export function unitsOf(text: string, depthMax: number): Units {
  const layers: string[] = [];
  for (const layer of layersOf(text)) if (layers.push(layer) > depthMax) break;
  /** Of each layer but the first, in the one that it is escaped in. */
  const beginnings = layers.slice(0, -1).map(beginningsOf);
  const bytes = Buffer.from(text, 'utf16le');

  function placeOf(depth: number, index: number): number {
    let place = index;
    for (let at = depth - 1; at >= 0; at -= 1) place = beginnings[at]![place]!;
    return place;
  }

  function write(depth: number, index: number, unit: string): void {
    if (depth === 0) {
      bytes.writeUInt16LE(unit.charCodeAt(0), index * UNIT_BYTES);
      return;
    }
    const [from, to] = [beginnings[depth - 1]![index]!, beginnings[depth - 1]![index + 1]!];
    const before = layers[depth - 1]!.slice(from, to);
    const now = before.length === 1 ? unit : escapedAs(unit, before);
    for (let at = 0; at < now.length; at += 1) {
      if (now.charAt(at) !== before.charAt(at)) write(depth - 1, from + at, now.charAt(at));
    }
  }

  return {
    layer: (depth) => layers[depth]!,
    placeOf,
    write,
    text: () => bytes.toString('utf16le'),
  };
}

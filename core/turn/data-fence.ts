/** Text of somebody else in a message to the model, between marks that the text cannot imitate. */
import { sha256Hex } from '../json/json.js';

const MARK_CHARS = 12;

export interface Fenced {
  /** What the text is, in one word. */
  readonly kind: string;
  /** Makes the mark: no two texts of a run have the same one. */
  readonly seed: string;
  readonly text: string;
}

export function fenced({ kind, seed, text }: Fenced): string {
  const mark = `${kind}-${sha256Hex(seed).slice(0, MARK_CHARS)}`;
  return [`<${mark}>`, text, `</${mark}>`].join('\n');
}

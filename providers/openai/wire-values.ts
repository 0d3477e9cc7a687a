/** Values that both of OpenAI's protocols write and read in the same way. */
import { createHash } from 'node:crypto';
import type { Json } from '../../core/json/json.js';
import type { Block } from '../../core/state/transcript.js';
import { isRecord } from '../json-record.js';
import { asArgumentObject } from '../tool-arguments.js';
import { wellFormed } from '../wire-text.js';

type ResultBlock = Extract<Block, { type: 'tool_result' }>;

/** The longest call ids that the two protocols take. */
export const CHAT_CALL_ID_CHARS_MAX = 40;
export const RESPONSES_CALL_ID_CHARS_MAX = 64;
const DIGEST_CHARS = 12;
/** Conversations of old runs do not say which error it was. */
const SOME_ERROR = 'tool_error';

/** An id that another vendor made may be too long here; the same id always gets the same short one. */
export function wireCallId(id: string, charsMax: number): string {
  if (id.length <= charsMax) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST_CHARS);
  return `${id.slice(0, charsMax - DIGEST_CHARS - 1)}_${digest}`;
}

export function argumentsText(args: Json): string {
  return wellFormed(JSON.stringify(asArgumentObject(args)));
}

/** OpenAI has no flag for a failed tool: its content says so (G44). */
export function resultText({ isError, code, text }: ResultBlock): string {
  if (!isError) return wellFormed(text);
  if (saysError(text)) return wellFormed(text);
  const message = text === '' ? 'The tool failed without a message.' : wellFormed(text);
  return JSON.stringify({ error: true, code: code ?? SOME_ERROR, message });
}

function saysError(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && value['error'] === true && typeof value['message'] === 'string';
  } catch {
    return false;
  }
}

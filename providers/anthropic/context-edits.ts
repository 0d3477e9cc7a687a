/**
 * Edits by which the vendor leaves old results of tools and old thinking out of a request (`context_management`).
 * Invariant: the conversation itself stays whole, here and in the store; what an edit has left out is counted, so that
 * the size of the whole is known.
 */
import type { Json } from '../../core/json/json.js';
import { isRecord, listAt, recordAt, textAt, tokensAt, type JsonRecord } from '../json-record.js';
import type { ModelRequest } from '../provider.js';
import { pastWireName } from '../wire-names.js';

const FIELD = 'context_management';
const BETA = 'context-management-2025-06-27';
const THINKING = 'clear_thinking_20251015';
/** Lists of names of tools in an edit. */
const NAMES: readonly string[] = ['exclude_tools', 'clear_tool_inputs'];
/** A vendor applies each edit once. */
const APPLIED_MAX = 16;

export interface Besides {
  /** Fields of the request beside what the runtime says. */
  readonly besides: JsonRecord;
  readonly betas: readonly string[];
  /** The vendor may leave parts of the conversation out. */
  readonly clears: boolean;
}

/** The options of a configuration as they fit this request, whose body is `said`. */
export function withEdits(options: JsonRecord, request: ModelRequest, said: object): Besides {
  const { [FIELD]: _, ...others } = options;
  const wireNames = new Map(request.tools.map(({ name, wireName }) => [name, wireName]));
  const edits = listAt(recordAt(options, FIELD), 'edits')
    .filter(isRecord)
    // The vendor refuses this one in a request without thinking.
    .filter((edit) => textAt(edit, 'type') !== THINKING || thinks(said))
    .map((edit) => onTheWire(edit, wireNames));
  if (edits.length === 0) return { besides: others, betas: [], clears: false };
  return { besides: { ...others, [FIELD]: { edits } }, betas: [BETA], clears: true };
}

function thinks(said: object): boolean {
  const type = textAt(recordAt(said as JsonRecord, 'thinking'), 'type');
  return type !== '' && type !== 'disabled';
}

function onTheWire(edit: JsonRecord, wireNames: ReadonlyMap<string, string>): JsonRecord {
  const wired = (name: Json): Json =>
    typeof name === 'string' ? (wireNames.get(name) ?? pastWireName(name)) : name;
  return Object.fromEntries(
    Object.entries(edit).map(([key, value]) => [
      key,
      NAMES.includes(key) && Array.isArray(value) ? (value as readonly Json[]).map(wired) : value,
    ]),
  );
}

/** Input tokens that all edits have left out; undefined: nothing is said of edits. */
export function clearedIn(told: Json | undefined): number | undefined {
  if (!isRecord(told) || !Array.isArray(told['applied_edits'])) return undefined;
  return listAt(told, 'applied_edits')
    .slice(0, APPLIED_MAX)
    .filter(isRecord)
    .reduce((sum, edit) => sum + tokensAt(edit, 'cleared_input_tokens'), 0);
}

/** Results of tools in the store: inline up to what the run has room for, else by reference. */
import {
  type StoredText,
  INLINE_BYTES_MAX,
  PREVIEW_CHARS,
  textFitsBytes,
} from '../../core/json/json.js';
import type { Tool } from '../../authoring/index.js';
import { isToolFailure } from '../../authoring/tool-error.js';
import type { RecordedResult } from '../../pure/ledger.js';
import type { StoreCalls } from '../../store/store.js';
import { outputDefect, TOOK_EFFECT } from './result-check.js';
import { cutText, resultText } from './result-text.js';
import { filesOf, keepFiles } from './returned-files.js';

/** Of an error that a call was answered with. */
const FAILURE_BYTES_MAX = 2_000;

export interface ResultPlace {
  readonly store: StoreCalls;
  readonly tenant: string;
  /** A text up to this size lies in the run's history. */
  readonly inlineBytesMax: number;
  /** What is no text says so. */
  readonly typed?: boolean;
}

/** A text as the run carries it; above `inlineBytesMax` it is only named. */
export async function storeText(place: ResultPlace, text: string): Promise<StoredText> {
  const { store, tenant, inlineBytesMax } = place;
  if (textFitsBytes(text, Math.min(inlineBytesMax, INLINE_BYTES_MAX))) {
    return store.putText(tenant, text);
  }
  const ref = await store.putBlob(tenant, text);
  return { ...ref, preview: previewWithin(text, inlineBytesMax) };
}

/** What is shown of it takes no more room than a short text would. */
function previewWithin(text: string, bytesMax: number): string {
  let chars = Math.min(PREVIEW_CHARS, bytesMax);
  while (chars > 0 && !textFitsBytes(beginning(text, chars), bytesMax)) {
    chars = Math.floor(chars / 2);
  }
  return beginning(text, chars);
}

/** What a tool returned. */
export async function storeValue(
  place: ResultPlace,
  { text, isText }: { readonly text: string; readonly isText: boolean },
): Promise<StoredText> {
  const stored = await storeText(place, text);
  return place.typed === true && !isText ? { ...stored, json: true } : stored;
}

/** A result kept in the ledger, as small as this run needs it. */
export async function refitText(
  place: ResultPlace,
  stored: RecordedResult,
): Promise<RecordedResult> {
  if (!('text' in stored)) return stored;
  const { text, json, malformed, failed, attachments } = stored;
  return {
    ...(await storeText(place, text)),
    ...(json && { json }),
    ...(malformed !== undefined && { malformed }),
    ...(failed !== undefined && { failed }),
    ...(attachments !== undefined && { attachments }),
  };
}

/**
 * The result of a call that changed something. It happened, so whatever is wrong with its result is kept with
 * it: as part of the text, or, where the tool says what it returns, as what the model is told instead.
 */
export async function storeEffectResult(
  place: ResultPlace,
  tool: Tool,
  returned: unknown,
): Promise<RecordedResult> {
  const { value, prepared, defect: unusable } = filesOf(returned);
  if (isToolFailure(value)) {
    const text = cutText(value.message, FAILURE_BYTES_MAX);
    return { ...(await storeValue(place, { text, isText: true })), failed: text };
  }
  const result = resultText(value);
  const defect = unusable ?? outputDefect(tool, result);
  const malformed = defect === undefined ? {} : { malformed: `${TOOK_EFFECT} ${defect}` };
  if (!result.ok) {
    const why = `The call took effect, but its result could not be represented: ${result.reason}.`;
    const rest = result.nearest === undefined ? '' : ` The rest of it: ${result.nearest}`;
    const text = cutText(`${why}${rest}`, tool.record.maxResultBytes);
    return { ...(await storeValue(place, { text, isText: true })), ...malformed };
  }
  const text = cutText(result.text, tool.record.maxResultBytes);
  const isText = result.isText || text !== result.text;
  const attachments = await keepFiles(place.store, place.tenant, prepared);
  return {
    ...(await storeValue(place, { text, isText })),
    ...malformed,
    ...(attachments !== undefined && { attachments }),
  };
}

function beginning(text: string, chars: number): string {
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(chars - 1));
  // A round trip replaces unpaired surrogates, as the store does with the whole text.
  return Buffer.from(text.slice(0, splits ? chars - 1 : chars)).toString('utf8');
}

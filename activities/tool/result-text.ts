/** What a tool returned, as the text that the model and the store get. */

export type ResultText =
  | { readonly ok: true; readonly text: string; readonly isText: boolean }
  | {
      readonly ok: false;
      readonly reason: string;
      /** What JSON makes of it, when it loses something. */
      readonly nearest?: string;
    };

const REASON_CHARS_MAX = 300;
const KEY_CHARS_MAX = 100;

/** A text as it is, everything else as JSON; nothing at all is `null`. What JSON would make into other data is none. */
export function resultText(value: unknown): ResultText {
  if (typeof value === 'string') return { ok: true, text: value, isText: true };
  if (value === undefined) return { ok: true, text: 'null', isText: false };
  let loss: string | undefined;
  const noteLoss = function (this: unknown, key: string, inner: unknown): unknown {
    const lost = lostOf((this as Record<string, unknown>)[key], inner);
    if (lost !== undefined) {
      loss ??= key === '' ? lost : `${key.slice(0, KEY_CHARS_MAX)} is ${lost}`;
    }
    return inner;
  };
  try {
    const text = JSON.stringify(value, noteLoss) as string | undefined;
    if (text === undefined) return { ok: false, reason: `a ${typeof value} is not JSON` };
    return loss === undefined
      ? { ok: true, text, isText: false }
      : { ok: false, reason: `${loss}, which JSON cannot hold`, nearest: text };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, reason: reason.slice(0, REASON_CHARS_MAX) };
  }
}

/** What JSON silently makes into null or an empty object; `inner`: what its own `toJSON` made of it. */
function lostOf(value: unknown, inner: unknown): string | undefined {
  if (typeof inner === 'number') return Number.isFinite(inner) ? undefined : String(inner);
  if (inner instanceof Map) return 'a Map';
  if (inner instanceof Set) return 'a Set';
  // Its `toJSON` has made it null.
  return value instanceof Date && inner === null ? 'an invalid date' : undefined;
}

/** At most `bytesMax` bytes of a text with a notice of what was cut off. */
export function cutText(text: string, bytesMax: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= bytesMax) return text;
  const kept = Buffer.from(text)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
  return `${kept}\n[cut off: ${bytesMax} of ${bytes} bytes kept]`;
}

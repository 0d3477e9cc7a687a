/** What a tool returned, as the text that the model and the store get. */

export type ResultText =
  | { readonly ok: true; readonly text: string; readonly isText: boolean }
  | { readonly ok: false; readonly reason: string };

const REASON_CHARS_MAX = 300;

/** A text as it is, everything else as JSON; nothing at all is `null`. */
export function resultText(value: unknown): ResultText {
  if (typeof value === 'string') return { ok: true, text: value, isText: true };
  if (value === undefined) return { ok: true, text: 'null', isText: false };
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined
      ? { ok: false, reason: `a ${typeof value} is not JSON` }
      : { ok: true, text, isText: false };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, reason: reason.slice(0, REASON_CHARS_MAX) };
  }
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

/**
 * Any text in a header of HTTP, which holds Latin-1 alone. What fits is sent as it is, as every release reads it; all
 * else as RFC 8187 writes it.
 */
const ENCODED = "UTF-8''";

export function headerText(text: string): string {
  const fits = /^[\x20-\xff]*$/.test(text) && !text.startsWith(ENCODED);
  return fits ? text : `${ENCODED}${encodeURIComponent(text)}`;
}

/** Undefined: it says that it is encoded, and is not. */
export function textOfHeader(value: string): string | undefined {
  if (!value.startsWith(ENCODED)) return value;
  try {
    return decodeURIComponent(value.slice(ENCODED.length));
  } catch {
    return undefined;
  }
}

/** What is told of something that was thrown: anything can be. */

const JSON_CHARS_MAX = 2_000;

/** Of an error its message, of an object without a text of its own the beginning of its JSON. */
export function thrownText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message;
    const text = String(thrown);
    const isTextless = Array.isArray(thrown) || /^\[object \w+\]$/.test(text);
    return isTextless && typeof thrown === 'object' ? jsonOr(text, thrown) : text;
  } catch {
    return 'an error without a text';
  }
}

function jsonOr(text: string, thrown: unknown): string {
  try {
    return (JSON.stringify(thrown) ?? text).slice(0, JSON_CHARS_MAX);
  } catch {
    return text;
  }
}

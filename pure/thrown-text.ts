/** What is told of something that was thrown: anything can be. */

const FIELDS_MAX = 20;
const FIELD_CHARS_MAX = 500;
const CHARS_MAX = 2_000;
/** Fields of requests and answers, which may hold what nobody is to read. */
const HIDDEN = /auth|cookie|token|secret|passw|key|headers|config|request/i;

/** Of an error its message, of an object without a text of its own its message or its plain fields as JSON. */
export function thrownText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message;
    const text = String(thrown);
    const isTextless = Array.isArray(thrown) || /^\[object \w+\]$/.test(text);
    return isTextless && typeof thrown === 'object' && thrown !== null ? fieldsOf(thrown) : text;
  } catch {
    return 'an error without a text';
  }
}

function fieldsOf(thrown: object): string {
  const { message } = thrown as { readonly message?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  const fields = Object.entries(thrown)
    .filter(([name]) => !HIDDEN.test(name))
    .slice(0, FIELDS_MAX)
    .map(([name, value]) => [name, plain(value)] as const);
  const told = Array.isArray(thrown)
    ? fields.map(([, value]) => value)
    : Object.fromEntries(fields);
  return JSON.stringify(told).slice(0, CHARS_MAX);
}

function plain(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return value.slice(0, FIELD_CHARS_MAX);
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : '…';
}

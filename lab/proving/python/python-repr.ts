/** `repr(value)`, as complaints about arguments show it. */
import { formatNumber } from './python-number.js';
import type { PyValue } from './python-value.js';

export function repr(value: PyValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return reprText(value);
  if (typeof value === 'number' || typeof value === 'bigint') return formatNumber(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  const entries = [...value].map(([key, entry]) => `${reprText(key)}: ${repr(entry)}`);
  return `{${entries.join(', ')}}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** In single quotes, or in double ones when the text has only single ones. */
function reprText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\\n\r\t]/g, (letter) => ESCAPES[letter] ?? letter);
  const control = escaped.replace(
    // Letters that no terminal shows.
    /\p{Cc}/gu,
    (letter) => `\\x${(letter.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`,
  );
  return `${quote}${quote === "'" ? control.replaceAll("'", "\\'") : control}${quote}`;
}

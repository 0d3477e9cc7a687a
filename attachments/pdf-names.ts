/** Names of PDF, whose characters may each be written as `#` and two hexadecimal digits. */

/** The source of a pattern that finds the whole name, however it is written. */
export function nameOf(name: string): string {
  return `/${name.replace(/./g, charOf)}(?![^\\0\\s()<>[\\]{}/%])`;
}

function charOf(char: string): string {
  const digits = char.charCodeAt(0).toString(16).padStart(2, '0');
  const escaped = digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  return `(?:${char}|#${escaped})`;
}

export function isNamed(text: string, pattern: string): boolean {
  return new RegExp(pattern).test(text);
}

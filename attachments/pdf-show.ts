/** Bytes of the strings that the operators of a content stream show. One pass, whatever the bytes are. */

const [OPEN, CLOSE, ESCAPE] = [0x28, 0x29, 0x5c];
const [LESS, MORE, PERCENT] = [0x3c, 0x3e, 0x25];
/** Of a string. */
const BRACKETS = 2;
const SHOWING: ReadonlySet<string> = new Set(['Tj', 'TJ', "'", '"']);
const OPERATOR_CHARS_MAX = 10;

export function shownBytes(content: Buffer): number {
  let shown = 0;
  let pending = 0;
  let at = 0;
  while (at < content.length) {
    const byte = content[at]!;
    if (byte === OPEN) {
      const end = endOfString(content, at);
      pending += Math.max(0, end - at - BRACKETS);
      at = end;
    } else if (byte === LESS && content[at + 1] !== LESS) {
      const end = endAt(content.indexOf(MORE, at), content);
      pending += Math.max(0, Math.ceil((end - at - BRACKETS) / 2));
      at = end;
    } else if (byte === PERCENT) {
      at = endOfLine(content, at);
    } else if (isOfOperator(byte)) {
      const end = endOfOperator(content, at);
      if (SHOWING.has(content.toString('latin1', at, Math.min(end, at + OPERATOR_CHARS_MAX))))
        shown += pending;
      pending = 0;
      at = end;
    } else {
      at += byte === LESS ? 2 : 1;
    }
  }
  return shown;
}

/** Behind the bracket that closes it; brackets in it come in pairs. */
function endOfString(content: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < content.length; at += 1) {
    const byte = content[at];
    if (byte === ESCAPE) at += 1;
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return content.length;
}

function endOfLine(content: Buffer, from: number): number {
  let at = from;
  while (at < content.length && content[at] !== 0x0a && content[at] !== 0x0d) at += 1;
  return at;
}

function endOfOperator(content: Buffer, from: number): number {
  let at = from;
  while (at < content.length && isOfOperator(content[at]!)) at += 1;
  return at;
}

/** Letters, and the two quotes. */
function isOfOperator(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || byte === 0x27 || byte === 0x22;
}

function endAt(found: number, content: Buffer): number {
  return found === -1 ? content.length : found + 1;
}

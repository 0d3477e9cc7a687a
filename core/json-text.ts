/**
 * JSON from a file, with the line and column of its first error. The engine's own messages name a position
 * or do not, depending on its version, so the place is found here.
 */

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line: number; readonly column: number; readonly reason: string };

// A raw control character in a text is what JSON forbids.
// eslint-disable-next-line no-control-regex
const STRING = /"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
// eslint-disable-next-line no-control-regex
const STRING_BEGINNING = /"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\r\n]*/y;
const DEPTH_MAX = 200;

export function parseJsonText(text: string): ParsedJson {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return { ok: true, value: JSON.parse(body) as unknown };
  } catch {
    const fault = firstFault(body);
    const before = body.slice(0, fault.at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return { ok: false, line: before.length, column, reason: fault.reason };
  }
}

interface Fault {
  readonly at: number;
  readonly reason: string;
}

/** Walks the text as a JSON parser would and gives the first place that is wrong. */
function firstFault(text: string): Fault {
  let at = 0;

  function take(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return false;
    at += match[0].length;
    return true;
  }

  function expected(what: string): Fault {
    const found = at >= text.length ? 'the end' : JSON.stringify(text.charAt(at));
    return { at, reason: `expected ${what}, found ${found}` };
  }

  function value(depth: number): Fault | undefined {
    take(SPACE);
    const first = text.charAt(at);
    if (depth > DEPTH_MAX) return { at, reason: 'it is nested too deeply' };
    if (first === '{') return list(depth, '}');
    if (first === '[') return list(depth, ']');
    if (first === '"') return take(STRING) ? undefined : badString();
    return take(WORD) || take(NUMBER) ? undefined : expected('a value');
  }

  function badString(): Fault {
    take(STRING_BEGINNING);
    return { at, reason: 'this text does not end, or holds a character that must be escaped' };
  }

  function list(depth: number, end: '}' | ']'): Fault | undefined {
    at += 1;
    take(SPACE);
    if (text.charAt(at) === end) {
      at += 1;
      return undefined;
    }
    for (;;) {
      const fault = (end === '}' ? name() : undefined) ?? value(depth + 1);
      if (fault !== undefined) return fault;
      take(SPACE);
      const next = text.charAt(at);
      if (next !== ',' && next !== end) return expected(`"," or "${end}"`);
      at += 1;
      if (next === end) return undefined;
    }
  }

  function name(): Fault | undefined {
    take(SPACE);
    if (text.charAt(at) !== '"') return expected('a name in double quotes');
    if (!take(STRING)) return badString();
    take(SPACE);
    if (text.charAt(at) !== ':') return expected('":"');
    at += 1;
    return undefined;
  }

  return value(0) ?? (take(SPACE), expected('nothing more'));
}

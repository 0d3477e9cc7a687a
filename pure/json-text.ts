/**
 * JSON from a file, with the line and column of its first error; a name that is there twice is one. The engine's own messages name a position
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
    const value: unknown = JSON.parse(body);
    const repeated = repeatedName(body);
    return repeated === undefined ? { ok: true, value } : faultAt(body, repeated);
  } catch {
    return faultAt(body, firstFault(body));
  }
}

function faultAt(body: string, { at, reason }: Fault): ParsedJson {
  const before = body.slice(0, at).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { ok: false, line: before.length, column, reason };
}

/** In JSON that can be parsed: of two members with one name the parser drops the first, in silence. */
function repeatedName(body: string): Fault | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < body.length; at += 1) {
    const char = body.charAt(at);
    if (char === '{' || char === '[') open.push(new Set());
    if (char === '}' || char === ']') open.pop();
    if (char !== '"') continue;
    const end = endOfText(body, at);
    SPACE.lastIndex = end + 1;
    SPACE.exec(body);
    if (body.charAt(SPACE.lastIndex) === ':') {
      const name = JSON.parse(body.slice(at, end + 1)) as string;
      const names = open.at(-1);
      if (names?.has(name)) return { at, reason: `${body.slice(at, end + 1)} is there twice` };
      names?.add(name);
    }
    at = end;
  }
  return undefined;
}

/** Where the text that begins at `at` ends. */
function endOfText(body: string, at: number): number {
  let end = at + 1;
  while (end < body.length && body.charAt(end) !== '"') end += body.charAt(end) === '\\' ? 2 : 1;
  return end;
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

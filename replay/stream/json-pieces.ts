/**
 * Reads canonical JSON (RFC 8785) piece by piece from a text that comes in chunks.
 * Invariants: no more than one piece and one chunk are held; what is not written as the canonical form has it is not taken,
 * so a name that is there twice, or JSON in another form, never passes. Errors: `NotCanonical`.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';

/** The text is another one than this reader takes; another reader says whether it is wrong. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

/** What ends a value that is no text, list or object. */
const SCALAR_END = /[,\]}]/g;
const IN_TEXT = /["\\]/g;
const IN_NEST = /["[\]{}]/g;

export interface JsonPieces {
  /** The next character is this one, and is passed over. */
  take(char: string): Promise<void>;
  /** The next character, which stays; '' at the end. */
  peek(): Promise<string>;
  value(): Promise<Json>;
  /** Names of an object, whose value the caller reads before it asks on. They come in order. */
  names(): AsyncGenerator<string, void>;
  /** Passes once for each value of a list, which the caller reads before it asks on. */
  items(): AsyncGenerator<number, void>;
  /** Passes over the next value, and holds no more of it than one of its values. */
  skip(): Promise<void>;
  /** What has been read is given to `passed`. */
  pass(): void;
}

/** `passed` hears all of the text in order, once it has been read. */
export function jsonPieces(
  chunks: AsyncIterator<string, unknown>,
  passed: (text: string) => void,
): JsonPieces {
  const view = viewOf(chunks, passed);
  const { peek, take } = view;

  async function text(): Promise<string> {
    return view.read(await endOfValue(view));
  }

  async function value(): Promise<Json> {
    return parsedForm(await text());
  }

  async function* names(): AsyncGenerator<string, void> {
    await take('{');
    if ((await peek()) === '}') return take('}');
    for (let before: string | undefined; ;) {
      const name = await value();
      if (typeof name !== 'string' || (before !== undefined && name <= before)) {
        throw new NotCanonical('names are not in order');
      }
      before = name;
      await take(':');
      yield name;
      if ((await peek()) === '}') return take('}');
      await take(',');
    }
  }

  async function* items(): AsyncGenerator<number, void> {
    await take('[');
    if ((await peek()) === ']') return take(']');
    for (let index = 0; ; index += 1) {
      yield index;
      if ((await peek()) === ']') return take(']');
      await take(',');
    }
  }

  async function skip(): Promise<void> {
    const first = await peek();
    const inner = first === '{' ? names() : first === '[' ? items() : undefined;
    if (inner === undefined) return void (await text());
    for await (const _ of inner) await text();
  }

  return { take, peek, value, names, items, skip, pass: view.pass };
}

/** Names of an object, in their order but for one that comes last. */
export async function* namesWithLast(json: JsonPieces, last: string): AsyncGenerator<string, void> {
  let before = '';
  await json.take('{');
  for (;;) {
    const name = await json.value();
    if (typeof name !== 'string' || (name !== last && name <= before)) {
      throw new NotCanonical('names are not in order');
    }
    before = name;
    await json.take(':');
    yield name;
    if (name === last) return json.take('}');
    await json.take(',');
  }
}

/** The part of a text that is held. */
interface View {
  peek(): Promise<string>;
  take(char: string): Promise<void>;
  /** The character so many places on, which `find` has reached. */
  char(place: number): string;
  /** The first place from `from` on where the pattern matches; places count from what is not read. */
  find(pattern: RegExp, from: number): Promise<number>;
  /** So many characters, which `find` has reached. */
  read(length: number): string;
  pass(): void;
}

function viewOf(chunks: AsyncIterator<string, unknown>, passed: (text: string) => void): View {
  let buffer = '';
  let at = 0;
  let isAtEnd = false;

  function pass(): void {
    passed(buffer.slice(0, at));
    buffer = buffer.slice(at);
    at = 0;
  }

  /** False: there is no more. */
  async function more(): Promise<boolean> {
    if (isAtEnd) return false;
    pass();
    const held = buffer.length;
    // As much again as is held, so that a long piece is not copied for each chunk.
    while (buffer.length <= held * 2 && !isAtEnd) {
      const { done, value } = await chunks.next();
      if (done === true) isAtEnd = true;
      else buffer += value;
    }
    return buffer.length > held;
  }

  async function peek(): Promise<string> {
    while (at >= buffer.length) if (!(await more())) return '';
    return buffer.charAt(at);
  }

  return {
    peek,
    pass,
    char: (place) => buffer.charAt(at + place),
    async take(char) {
      if ((await peek()) !== char) throw new NotCanonical(`expected ${char}`);
      at += 1;
    },
    async find(pattern, from) {
      for (let next = from; ;) {
        pattern.lastIndex = at + next;
        const match = pattern.exec(buffer);
        if (match !== null) return match.index - at;
        next = Math.max(next, buffer.length - at);
        if (!(await more())) throw new NotCanonical('the text ends within a value');
      }
    },
    read(length) {
      const found = buffer.slice(at, at + length);
      at += length;
      return found;
    },
  };
}

async function endOfValue(view: View): Promise<number> {
  const first = await view.peek();
  if (first === '"') return endOfText(view, 0);
  return first === '{' || first === '[' ? endOfNest(view) : view.find(SCALAR_END, 0);
}

/** Where the text that begins at `from` ends, behind its last quote. */
async function endOfText(view: View, from: number): Promise<number> {
  for (let next = from + 1; ;) {
    const found = await view.find(IN_TEXT, next);
    if (view.char(found) === '"') return found + 1;
    next = found + 2;
  }
}

async function endOfNest(view: View): Promise<number> {
  let depth = 0;
  for (let next = 0; ;) {
    const found = await view.find(IN_NEST, next);
    const char = view.char(found);
    if (char === '"') {
      next = await endOfText(view, found);
      continue;
    }
    depth += char === '{' || char === '[' ? 1 : -1;
    next = found + 1;
    if (depth === 0) return next;
  }
}

function parsedForm(form: string): Json {
  let isCanonical = false;
  let value: Json = null;
  try {
    value = JSON.parse(form) as Json;
    isCanonical = canonicalJson(value) === form;
  } catch {
    // No JSON, or nested deeper than the call stack.
  }
  if (!isCanonical) throw new NotCanonical('a value is in another form');
  return value;
}

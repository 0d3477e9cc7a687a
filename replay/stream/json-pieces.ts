/**
 * Reads canonical JSON (RFC 8785) piece by piece from a text that comes in chunks.
 * Invariants: no more than one piece and one chunk are held; what is not written as the canonical form has it is not taken,
 * so a name that is there twice, or JSON in another form, never passes. Errors: `NotCanonical`.
 */
import type { Json } from '../../core/json/json.js';
import { isCanonicalForm } from './canonical-form.js';

/** The text is another one than this reader takes; another reader says whether it is wrong. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

/** What ends a value that is no text, list or object. */
const SCALAR_END = /[,\]}]/g;

interface Formed {
  readonly value: Json;
  readonly form: string;
}

/** At once where the text is there: a bundle has tens of thousands of pieces. */
type Soon<T> = T | Promise<T>;

export interface JsonPieces {
  /** The next character is this one, and is passed over. */
  take(char: string): Soon<void>;
  /** The next character, which stays; '' at the end. */
  peek(): Soon<string>;
  value(): Promise<Json>;
  /** A value with its canonical form. */
  formed(): Promise<Formed>;
  /** Names of an object, whose value the caller reads before it asks on. They come in order. */
  names(): AsyncGenerator<string, void>;
  /** Passes once for each value of a list, which the caller reads before it asks on. */
  items(): AsyncGenerator<number, void>;
  /** Passes over the next value, and holds no more of it than one of its values. */
  skip(): Promise<void>;
  /** What has been read is given to `passed`. */
  pass(): void;
}

/**
 * `passed` hears all of the text in order, once it has been read. `isRight`: what is taken of JSON; a second reading, whose
 * text is compared as a whole, takes any.
 */
export function jsonPieces(
  chunks: AsyncIterator<string, unknown>,
  passed: (text: string) => void,
  isRight: (value: Json, form: string) => boolean = isCanonicalForm,
): JsonPieces {
  const view = viewOf(chunks, passed);
  const { peek, take } = view;

  function text(): Soon<string> {
    const end = endOfValue(view);
    return typeof end === 'number' ? view.read(end) : end.then(view.read);
  }

  async function value(): Promise<Json> {
    const form = text();
    return parsedForm(typeof form === 'string' ? form : await form, isRight);
  }

  async function formed(): Promise<Formed> {
    const form = await text();
    return { value: parsedForm(form, isRight), form };
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

  return { take, peek, value, formed, names, items, skip, pass: view.pass };
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
  peek(): Soon<string>;
  take(char: string): Soon<void>;
  /** What `seen` finds from the first place on that is not read; it is asked again when there is more to see. */
  find(seen: Seen): Soon<number>;
  /** So many characters, which `find` has reached. */
  read(length: number): string;
  pass(): void;
}

/** Where in a text something ends that begins at `at`, counted from there; undefined: not before the end of this text. */
type Seen = (text: string, at: number) => number | undefined;

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

  async function peekFurther(): Promise<string> {
    while (at >= buffer.length) if (!(await more())) return '';
    return buffer.charAt(at);
  }

  function peek(): Soon<string> {
    return at < buffer.length ? buffer.charAt(at) : peekFurther();
  }

  function taken(char: string, wanted: string): void {
    if (char !== wanted) throw new NotCanonical(`expected ${wanted}`);
    at += 1;
  }

  async function findFurther(seen: Seen): Promise<number> {
    while (await more()) {
      const found = seen(buffer, at);
      if (found !== undefined) return found;
    }
    throw new NotCanonical('the text ends within a value');
  }

  return {
    peek,
    pass,
    take(wanted) {
      const next = peek();
      return typeof next === 'string'
        ? taken(next, wanted)
        : next.then((char) => taken(char, wanted));
    },
    find: (seen) => seen(buffer, at) ?? findFurther(seen),
    read(length) {
      const found = buffer.slice(at, at + length);
      at += length;
      return found;
    },
  };
}

function endOfValue(view: View): Soon<number> {
  const first = view.peek();
  return typeof first === 'string'
    ? endBehind(view, first)
    : first.then((char) => endBehind(view, char));
}

function endBehind(view: View, first: string): Soon<number> {
  const isNest = first === '"' || first === '{' || first === '[';
  return view.find(isNest ? endOfNest() : endOfScalar);
}

function endOfScalar(text: string, at: number): number | undefined {
  SCALAR_END.lastIndex = at;
  const match = SCALAR_END.exec(text);
  return match === null ? undefined : match.index - at;
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Array.from('"\\[]{}', (char) =>
  char.charCodeAt(0),
) as [number, number, number, number, number, number];

/** Of a text, a list or an object: no chunk is looked through twice. */
function endOfNest(): Seen {
  let depth = 0;
  let isInText = false;
  let next = 0;
  return (text, at) => {
    for (let place = at + next; place < text.length;) {
      if (isInText) {
        const end = endOfText(text, place);
        if (end === undefined) break;
        isInText = false;
        place = end;
      } else {
        const char = text.charCodeAt(place);
        place += 1;
        if (char === QUOTE) isInText = true;
        else if (char === OPEN || char === OPEN_LIST) depth += 1;
        else if (char === CLOSE || char === CLOSE_LIST) depth -= 1;
        else continue;
      }
      next = place - at;
      if (depth === 0 && !isInText) return next;
    }
    next = text.length - at;
    return undefined;
  };
}

/** Behind the quote that ends a text. All before `from` still stands in `text`: backslashes are counted back. */
function endOfText(text: string, from: number): number | undefined {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return undefined;
}

function parsedForm(form: string, isRight: (value: Json, form: string) => boolean): Json {
  let isTaken = false;
  let value: Json = null;
  try {
    value = JSON.parse(form) as Json;
    isTaken = isRight(value, form);
  } catch {
    // No JSON, or nested deeper than the call stack.
  }
  if (!isTaken) throw new NotCanonical('a value is in another form');
  return value;
}

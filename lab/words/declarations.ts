/**
 * Declarations of TypeScript as pages show them: fields with types and comments. Reads sources as the formatter leaves them.
 * Invariant: what is not understood throws, so that a page never lacks a field in silence.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

export interface Field {
  readonly name: string;
  readonly optional: boolean;
  /** On one line, without comments. */
  readonly type: string;
  /** What stands above it; absent: nothing. */
  readonly says?: string;
}

export interface Member {
  readonly type: string;
  readonly fields: readonly Field[];
  /** Name of a type whose fields it has as well. */
  readonly and?: string;
}

/** The members of a union that each have a `type`, in their order. */
export function membersOf(file: string, name: string): readonly Member[] {
  return partsOf(bodyOfType(file, name), '|').flatMap((part) => {
    const text = withoutComments(part).trim();
    const [, type] = /readonly type: '(\w+)'/.exec(text) ?? [];
    if (type === undefined) return [];
    const [, and] = /\} & (\w+)\)$/.exec(text) ?? [];
    const open = part.indexOf('{');
    const fields = fieldsIn(part.slice(open + 1, closing(part, open)));
    const own = fields.filter((field) => field.name !== 'type');
    return [{ type, fields: own, ...(and !== undefined && { and }) }];
  });
}

/** Errors: there is no such interface. */
export function fieldsOf(file: string, name: string): readonly Field[] {
  const text = sourceOf(file);
  const at = text.search(new RegExp(`^export interface ${name} \\{`, 'm'));
  if (at < 0) throw new Error(`${file} declares no interface ${name}.`);
  const open = text.indexOf('{', at);
  return fieldsIn(text.slice(open + 1, closing(text, open)));
}

/** As it stands in the source, without `export` and `readonly`. */
export function declarationOf(file: string, name: string): string {
  const text = sourceOf(file);
  const at = text.search(new RegExp(`^export (?:interface|type) ${name}\\b`, 'm'));
  if (at < 0) throw new Error(`${file} does not declare ${name}.`);
  const open = text.indexOf('{', at);
  const isInterface = text.startsWith('export interface', at);
  const end = isInterface ? closing(text, open) + 1 : endOf(text, at);
  return text
    .slice(at, end)
    .replace(/^export /, '')
    .replaceAll('readonly ', '');
}

function bodyOfType(file: string, name: string): string {
  const text = sourceOf(file);
  const head = `export type ${name} =`;
  const at = text.indexOf(head);
  if (at < 0) throw new Error(`${file} declares no type ${name}.`);
  return text.slice(at + head.length, endOf(text, at) - 1);
}

function fieldsIn(body: string): readonly Field[] {
  return partsOf(body, ';').flatMap((part) => {
    const text = withoutComments(part).replace(/\s+/g, ' ').trim();
    if (text === '') return [];
    const [, name, optional, type] = /^readonly (\w+)(\??): (.+)$/.exec(text) ?? [];
    if (name === undefined || type === undefined) throw new Error(`No field: ${text}`);
    const [, comment] = /^\s*\/\*\*([\s\S]*?)\*\//.exec(part) ?? [];
    const says = comment?.replace(/\s*\n\s*\*\s?/g, ' ').trim();
    return [
      {
        name,
        optional: optional === '?',
        type: type.replaceAll('readonly ', '').replace(/^\| /, ''),
        ...(says !== undefined && { says }),
      },
    ];
  });
}

/** Split where the mark stands outside of brackets, texts and comments. */
function partsOf(text: string, mark: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  walk(text, 0, (at, depth) => {
    if (depth === 0 && text[at] === mark) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
    return false;
  });
  return [...parts, text.slice(from)];
}

/** Where the bracket at `open` is closed. */
function closing(text: string, open: number): number {
  return walk(text, open, (at, depth) => depth === 0 && text[at] === '}');
}

/** Behind the `;` that ends a declaration. */
function endOf(text: string, from: number): number {
  return walk(text, from, (at, depth) => depth === 0 && text[at] === ';') + 1;
}

const SKIPPED = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/y;

/** Gives the first place that `stop` wants. Depth is that behind the character. */
function walk(text: string, from: number, stop: (at: number, depth: number) => boolean): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    SKIPPED.lastIndex = at;
    const skipped = SKIPPED.exec(text);
    if (skipped !== null) {
      at += skipped[0].length - 1;
      continue;
    }
    if ('({[<'.includes(text[at]!)) depth += 1;
    if (')}]'.includes(text[at]!) || (text[at] === '>' && text[at - 1] !== '=')) depth -= 1;
    if (stop(at, depth)) return at;
  }
  return text.length;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '');
}

function sourceOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

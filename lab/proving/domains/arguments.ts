/**
 * Binds the arguments of a call to a tool's parameters as Python does, with Python's complaints: a
 * model that forgets or invents an argument reads them in the recording.
 */
import type { Dialect } from './database.js';
import { repr } from '../python/python-repr.js';
import { typeName, type PyObject, type PyValue } from '../python/python-value.js';
import { ToolError } from '../python/tool-error.js';

/** The arguments of one call, every parameter present. */
export type BoundArguments = ReadonlyMap<string, PyValue>;

export interface Signature {
  readonly dialect: Dialect;
  readonly className: string;
  readonly tool: string;
  readonly parameters: readonly string[];
}

/** Checks that each parameter has its argument and that there is no other. */
export function bindArguments(signature: Signature, args: PyObject): BoundArguments {
  const { parameters } = signature;
  for (const name of args.keys()) {
    if (!parameters.includes(name)) {
      throw new ToolError(
        `${pythonName(signature)}() got an unexpected keyword argument '${name}'`,
      );
    }
  }
  const missing = parameters.filter((name) => !args.has(name)).map((name) => `'${name}'`);
  if (missing.length > 0) {
    const noun = missing.length === 1 ? 'argument' : 'arguments';
    throw new ToolError(
      `${pythonName(signature)}() missing ${missing.length} required positional ${noun}: ${enumerate(missing)}`,
    );
  }
  return args;
}

function pythonName({ dialect, className, tool }: Signature): string {
  if (dialect === 'tau2') return `${className}.${tool}`;
  const words = tool.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}.invoke`;
}

function enumerate(names: readonly string[]): string {
  if (names.length <= 2) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1) ?? ''}`;
}

/** An argument used to look a record up: another type than text finds nothing. */
export function idArgument(args: BoundArguments, name: string): string {
  const value = args.get(name) ?? null;
  if (typeof value === 'string') return value;
  if (Array.isArray(value) || value instanceof Map) {
    throw new ToolError(`unhashable type: '${typeName(value)}'`);
  }
  // A key no record has, because ids are texts and never contain a line break.
  return `\n${textOf(value)}`;
}

/** An argument that the tool compares as text, whatever its case. */
export function textArgument(args: BoundArguments, name: string): string {
  const value = args.get(name) ?? null;
  if (typeof value === 'string') return value;
  throw new ToolError(`'${typeName(value)}' object has no attribute 'lower'`);
}

/** An argument that the tool walks through: a list, or, as in Python, the letters of a text. */
export function idsArgument(args: BoundArguments, name: string): string[] {
  const value = args.get(name) ?? null;
  if (typeof value === 'string') return Array.from(value);
  if (Array.isArray(value)) return value.map(textOf);
  if (value instanceof Map) return [...value.keys()];
  throw new ToolError(`'${typeName(value)}' object is not iterable`);
}

/** The same, for a list whose length the tool asks before it walks through it. */
export function sizedIdsArgument(args: BoundArguments, name: string): string[] {
  const value = args.get(name) ?? null;
  const sized = typeof value === 'string' || Array.isArray(value) || value instanceof Map;
  if (sized) return idsArgument(args, name);
  throw new ToolError(`object of type '${typeName(value)}' has no len()`);
}

/** `str(value)`. */
export function textOf(value: PyValue): string {
  return typeof value === 'string' ? value : repr(value);
}

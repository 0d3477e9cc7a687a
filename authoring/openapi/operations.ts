/**
 * The operations of an OpenAPI document that a configuration allows, and the names of their tools.
 * Invariant: an id of the document never stands for a method and a path: names with a space are those, names without one ids.
 */
import { digestOf, type Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import { wireNameOf } from '../../core/state/tool.js';
import { followed, isPart, own, unfit, words, type Part } from './document.js';

const METHODS = ['get', 'head', 'put', 'delete', 'post', 'patch'] as const;
export type Method = (typeof METHODS)[number];

const OPERATIONS_MAX = 5_000;
const TOOLS_MAX = 200;
const SHOWN_MAX = 10;
const WIRE_NAME_CHARS_MAX = 64;
const DIGEST_CHARS = 8;
/** What stays as it is in an address, and braces for parameters. */
const PATH = /^\/[A-Za-z0-9._~!$&'()*+,;=:@/{}-]*$/;
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/;

export interface Operation {
  readonly method: Method;
  /** As the document has it: `/pets/{petId}`. */
  readonly path: string;
  /** `GET /pets/{petId}`. */
  readonly key: string;
  /** Its `operationId`. */
  readonly id?: string;
  readonly declared: Part;
  /** Parameters of its path, which its own ones replace. */
  readonly shared: readonly Json[];
  /** Where the document says that it is, if that may be elsewhere than the rest. */
  readonly servers?: Json;
}

/** Errors: InvalidTool, where a pattern allows nothing or too much is allowed. */
export function allowedOperations(document: Part, allow: readonly string[]): readonly Operation[] {
  if (!Array.isArray(allow) || allow.length === 0) {
    const hint = "List operationIds, 'GET /pets/{petId}', or '*' at the end for any rest.";
    throw wrong('allow names no operation', hint);
  }
  const all = operationsOf(document);
  for (const pattern of allow) {
    if (typeof pattern === 'string' && all.some((one) => isNamed(one, pattern))) continue;
    throw wrong(`allow names ${words(pattern as Json)}, which is no operation`, someOf(all));
  }
  const allowed = all.filter((one) => allow.some((pattern) => isNamed(one, pattern)));
  if (allowed.length > TOOLS_MAX) {
    throw wrong(`${allowed.length} operations are allowed`, `Allow at most ${TOOLS_MAX}.`);
  }
  const ids = allowed.flatMap(({ id }) => id ?? []);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice === undefined) return allowed;
  const hint = 'Allow one of them by its method and path.';
  throw wrong(`two allowed operations have the operationId ${words(twice)}`, hint);
}

/** The operation that a setting names, by id or by `METHOD /path`. Errors: InvalidTool. */
export function checkNamed(
  settings: { readonly [operation: string]: unknown },
  field: string,
  allowed: readonly Operation[],
): void {
  const unknown = Object.keys(settings).find(
    (name) => !allowed.some(({ id, key }) => id === name || key === name),
  );
  if (unknown === undefined) return;
  throw wrong(`${field} names ${words(unknown)}, which is not allowed`, someOf(allowed));
}

/** What settings say of an operation; undefined: nothing. */
export function saidOf<T>(
  settings: { readonly [operation: string]: T },
  { id, key }: Operation,
): T | undefined {
  if (id !== undefined && Object.hasOwn(settings, id)) return settings[id];
  return Object.hasOwn(settings, key) ? settings[key] : undefined;
}

function someOf(operations: readonly Operation[]): string {
  const names = operations.slice(0, SHOWN_MAX).map(({ id, key }) => id ?? key);
  const more = operations.length - names.length;
  return `There are ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

function isNamed({ id, key }: Operation, pattern: string): boolean {
  if (pattern === '*') return true;
  const name = pattern.includes(' ') ? key : id;
  if (!pattern.endsWith('*')) return pattern === name;
  return name?.startsWith(pattern.slice(0, -1)) ?? false;
}

function operationsOf(document: Part): readonly Operation[] {
  const paths = own(document, 'paths');
  if (!isPart(paths)) throw unfit('it has no paths');
  const all = Object.keys(paths).flatMap((path) => operationsAt(document, path, paths[path]));
  if (all.length <= OPERATIONS_MAX) return all;
  throw unfit(`it has more than ${OPERATIONS_MAX} operations`);
}

function operationsAt(document: Part, path: string, given: Json | undefined): readonly Operation[] {
  // Beside paths there may be extensions of the document.
  if (path.startsWith('x-')) return [];
  const item = followed(document, given, `the path ${words(path)}`);
  if (item === undefined) return [];
  const shared = own(item, 'parameters');
  const usual = own(item, 'servers');
  return METHODS.flatMap((method) => {
    const declared = own(item, method);
    if (!isPart(declared)) return [];
    const { operationId } = declared;
    const servers = own(declared, 'servers') ?? usual;
    const isId = typeof operationId === 'string' && operationId !== '' && !/\s/.test(operationId);
    return {
      method,
      path,
      key: `${method.toUpperCase()} ${path}`,
      ...(isId && { id: operationId }),
      declared,
      shared: Array.isArray(shared) ? (shared as readonly Json[]) : [],
      ...(servers !== undefined && { servers }),
    };
  });
}

/** Refuses paths that would lead elsewhere. Errors: InvalidTool. */
export function checkPath({ path, key }: Operation): void {
  const steps = path.split('/').slice(1);
  const isPlain =
    PATH.test(path) &&
    steps.every(
      (step, i) => step !== '.' && step !== '..' && (step !== '' || i === steps.length - 1),
    );
  if (!isPlain) throw unfit(`${words(key)} has a path that is not to be trusted`);
}

/** Of its id or its key, with a group before it; long names end with a digest. */
export function toolNameOf(operation: Operation, group: string | undefined): string {
  const base = operation.id ?? `${operation.method}${operation.path}`;
  const plain = TOOL_NAME.test(base) ? base : spelled(base);
  const name = group === undefined ? plain : `${group}.${plain}`;
  if (wireNameOf(name).length <= WIRE_NAME_CHARS_MAX) return name;
  const digest = digestOf(operation.key).slice(0, DIGEST_CHARS);
  const room = WIRE_NAME_CHARS_MAX - DIGEST_CHARS - 1 - wireNameOf(`${group ?? ''}.`).length;
  return `${group === undefined ? '' : `${group}.`}${spelled(plain).slice(0, Math.max(1, room))}_${digest}`;
}

function spelled(text: string): string {
  const words = text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return /^[A-Za-z]/.test(words) ? words : `op_${words}`;
}

export function wrong(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTool', `fromOpenAPI: ${what}.`, { hint });
}

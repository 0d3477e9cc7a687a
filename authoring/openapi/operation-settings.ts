/**
 * What a configuration says of one operation, and what the method says where the configuration says nothing.
 * Invariant: a call that may send money, a message or a right twice is repeated only with a key that its author named.
 */
import type { Idempotency, ToolEffect } from '../../core/state/tool.js';
import { sideEffectOf } from '../../core/state/tool.js';
import type { ToolDefinition } from '../define-tool.js';
import { unknownField, type KnownFields } from '../known-fields.js';
import type { JsonSchema } from '../schema-forms.js';
import { saidOf, wrong, type Method, type Operation } from './operations.js';

/** What is said of one operation; the other fields are those of `defineTool`. */
export type OperationSettings = Pick<
  ToolDefinition<JsonSchema>,
  | 'approval'
  | 'card'
  | 'limits'
  | 'identity'
  | 'timeoutMs'
  | 'maxResultBytes'
  | 'concurrencySafe'
  | 'quick'
  | 'queue'
  | 'probe'
  | 'onLost'
  | 'required'
  | 'idempotency'
  | 'description'
> & {
  /** Name of the tool. Default: the group and the operationId. */
  readonly name?: string;
  readonly version?: string;
};

const FIELDS: KnownFields<OperationSettings> = {
  approval: true,
  card: true,
  limits: true,
  identity: true,
  timeoutMs: true,
  maxResultBytes: true,
  concurrencySafe: true,
  quick: true,
  queue: true,
  probe: true,
  onLost: true,
  required: true,
  idempotency: true,
  description: true,
  name: true,
  version: true,
};

type Tools = { readonly [operation: string]: OperationSettings };

/** Errors: InvalidTool, for a field that counts nowhere. */
export function settingsOf(tools: Tools, operation: Operation): OperationSettings {
  const said = saidOf(tools, operation) ?? {};
  const unknown = unknownField(said, FIELDS);
  if (unknown === undefined) return said;
  const hint = Object.hasOwn(said, 'effect')
    ? `Say it by effects: { '${operation.key}': … }.`
    : unknown.hint;
  throw wrong(`tools says of ${operation.key} the field ${unknown.name}, which there is not`, hint);
}

const EFFECT: Readonly<Record<Method, ToolEffect>> = {
  get: 'read',
  head: 'read',
  put: 'write',
  delete: 'delete',
  post: 'unknown',
  patch: 'unknown',
};

/**
 * The worst that a call can do. A document gives any operation any id: that a method which changes something only reads is
 * said of the method itself. Errors: InvalidTool.
 */
export function effectOf(
  effects: { readonly [operation: string]: ToolEffect },
  operation: Operation,
): ToolEffect {
  const { method, key } = operation;
  const effect = saidOf(effects, operation) ?? EFFECT[method];
  const isHarmless = sideEffectOf(effect) !== 'mutating';
  const isPlain = method === 'get' || method === 'head' || method === 'post';
  if (!isHarmless || isPlain || Object.hasOwn(effects, key)) return effect;
  throw wrong(
    `effects says ${effect} of ${operation.id}, which is ${key}`,
    `Say '${key}' instead if it is so.`,
  );
}

interface Repeating {
  readonly effect: ToolEffect;
  readonly idempotency: Idempotency | undefined;
  readonly isKeyed: boolean;
}

/**
 * A PUT that writes or a DELETE that deletes leaves twice what one leaves (RFC 9110, 9.2.2): it may be sent again when nobody
 * heard how it ended. That its author says another effect of it says that there is more to it.
 */
export function repeated(
  method: Method,
  { effect, idempotency, isKeyed }: Repeating,
): Pick<ToolDefinition<JsonSchema>, 'idempotency' | 'onLost'> {
  if (idempotency !== undefined) return { idempotency };
  if (sideEffectOf(effect) !== 'mutating') return {};
  const isReplaced = (method === 'put' || method === 'delete') && EFFECT[method] === effect;
  if (isReplaced) return { idempotency: 'keyed', onLost: 'repeat_with_key' };
  return isKeyed ? { idempotency: 'keyed' } : {};
}

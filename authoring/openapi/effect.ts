/** What an operation may do, and whether it may be sent twice. */
import { sideEffectOf, type Idempotency, type ToolEffect } from '../../core/state/tool.js';
import type { ToolDefinition } from '../define-tool.js';
import type { JsonSchema } from '../schema-forms.js';
import { saidOf, wrong, type Method, type Operation } from './operations.js';

const EFFECT: Readonly<Record<Method, ToolEffect>> = {
  get: 'read',
  head: 'read',
  put: 'write',
  delete: 'delete',
  post: 'unknown',
  patch: 'unknown',
};

/** That a PUT or DELETE only reads is said of its path: an id may be another operation's tomorrow. */
export function effectOf(
  operation: Operation,
  effects: { readonly [operation: string]: ToolEffect },
): ToolEffect {
  const { method, key } = operation;
  const effect = saidOf(effects, operation) ?? EFFECT[method];
  const isOdd = (method === 'put' || method === 'delete') && sideEffectOf(effect) !== 'mutating';
  if (!isOdd || Object.hasOwn(effects, key)) return effect;
  const hint = `Say it of the path: effects: { '${key}': '${effect}' }.`;
  throw wrong(
    `effects says that ${operation.id} only reads, and it is a ${method.toUpperCase()}`,
    hint,
  );
}

interface Repeating {
  readonly effect: ToolEffect;
  readonly idempotency: Idempotency | undefined;
  readonly isKeyed: boolean;
}

/**
 * The same PUT or DELETE twice leaves what one leaves (RFC 9110, 9.2.2): it may be sent again when nobody heard how it
 * ended. One that pays, sends or does anything else may not.
 */
export function repeated(
  method: Method,
  { effect, idempotency, isKeyed }: Repeating,
): Pick<ToolDefinition<JsonSchema>, 'idempotency' | 'onLost'> {
  if (idempotency !== undefined) return { idempotency };
  if (sideEffectOf(effect) !== 'mutating') return {};
  const isRepeatable =
    (method === 'put' && effect === 'write') || (method === 'delete' && effect === 'delete');
  if (isRepeatable) return { idempotency: 'keyed', onLost: 'repeat_with_key' };
  return isKeyed ? { idempotency: 'keyed' } : {};
}

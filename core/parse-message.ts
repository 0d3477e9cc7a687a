/**
 * Parses what arrives by signal or Update. Cheap shape and size checks in plain code, because no schema
 * library runs inside a workflow (design §6).
 * Invariants: total; what does not fit becomes a reason, quoted nowhere longer than bounded; own
 * properties only.
 */
import type { Decision, DecisionKind } from './ask/ask.js';
import { ownValue, type Json } from './json.js';
import { SHAPE_DEPTH_MAX, depthOf } from './json-depth.js';

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

export const MESSAGE_CHARS_MAX = 8_192;
const ID_CHARS_MAX = 400;
const REASON_CHARS_MAX = 2_000;
const ROLES_MAX = 50;
const VALUE_CHARS_MAX = 4_096;

const DECISIONS: readonly DecisionKind[] = [
  'approve',
  'reject',
  'modify',
  'replace',
  'happened',
  'not_happened',
  'stop',
];

export function parseDecision(raw: unknown): Parsed<Decision> {
  if (!isRecord(raw)) return fault(raw, 'a decision must be an object');
  const askId = ownValue(raw, 'askId');
  const decision = ownValue(raw, 'decision');
  const by = ownValue(raw, 'by');
  const decidedAt = ownValue(raw, 'decidedAt');
  const argsHash = ownValue(raw, 'argsHash') ?? '';
  const roles = ownValue(raw, 'roles') ?? [];
  const reason = ownValue(raw, 'reason');
  const value = ownValue(raw, 'value');
  const nonce = ownValue(raw, 'nonce');
  const proof = ownValue(raw, 'proof');
  if (proof !== undefined && !isText(proof, REASON_CHARS_MAX))
    return fault(raw, 'proof must be a text');
  if (nonce !== undefined && !isText(nonce, ID_CHARS_MAX))
    return fault(raw, 'nonce must be a short text');
  if (!isText(askId, ID_CHARS_MAX)) return fault(raw, 'askId must be a non-empty text');
  if (!DECISIONS.includes(decision as DecisionKind))
    return fault(raw, `decision must be one of ${DECISIONS.join(', ')}`);
  if (!isText(by, ID_CHARS_MAX)) return fault(raw, 'by must name the person who decides');
  if (typeof decidedAt !== 'number' || !Number.isSafeInteger(decidedAt))
    return fault(raw, 'decidedAt must be integer ms since epoch');
  if (typeof argsHash !== 'string' || argsHash.length > ID_CHARS_MAX)
    return fault(raw, 'argsHash must be a text');
  if (!isTexts(roles)) return fault(raw, `roles must be at most ${ROLES_MAX} texts`);
  if (reason !== undefined && typeof reason !== 'string')
    return fault(raw, 'reason must be a text');
  if (value !== undefined && !isSmallJson(value))
    return fault(raw, `value must be JSON of at most ${VALUE_CHARS_MAX} characters`);
  return {
    ok: true,
    value: {
      v: 1,
      askId,
      argsHash,
      decision: decision as DecisionKind,
      by,
      roles,
      decidedAt,
      ...(reason !== undefined && { reason: reason.slice(0, REASON_CHARS_MAX) }),
      ...(value !== undefined && { value: value as Json }),
      ...(nonce !== undefined && { nonce }),
      ...(proof !== undefined && { proof }),
    },
  };
}

export function parseUserMessage(
  raw: unknown,
): Parsed<{ readonly text: string; readonly id?: string }> {
  if (!isRecord(raw)) return fault(raw, 'a message must be an object with a text');
  const text = ownValue(raw, 'text');
  const id = ownValue(raw, 'id');
  if (!isText(text, MESSAGE_CHARS_MAX))
    return fault(raw, `text must be a non-blank text of at most ${MESSAGE_CHARS_MAX} characters`);
  if (id !== undefined && !isText(id, ID_CHARS_MAX)) return fault(raw, 'id must be a short text');
  return { ok: true, value: { text, ...(id !== undefined && { id }) } };
}

export function parseProvidedInput(
  raw: unknown,
): Parsed<{ readonly askId: string; readonly value: Json; readonly by: string }> {
  if (!isRecord(raw)) return fault(raw, 'an input must be an object');
  const askId = ownValue(raw, 'askId');
  const value = ownValue(raw, 'value');
  const by = ownValue(raw, 'by') ?? 'unknown';
  if (!isText(askId, ID_CHARS_MAX)) return fault(raw, 'askId must be a non-empty text');
  if (!isText(by, ID_CHARS_MAX)) return fault(raw, 'by must be a text');
  if (value === undefined || !isSmallJson(value))
    return fault(raw, `value must be JSON of at most ${VALUE_CHARS_MAX} characters`);
  return { ok: true, value: { askId, value: value as Json, by } };
}

const MODEL_CHARS_MAX = 200;

export function parseModelName(raw: unknown): Parsed<string> {
  return isText(raw, MODEL_CHARS_MAX)
    ? { ok: true, value: raw.trim() }
    : fault(raw, `a model must be named by a text of at most ${MODEL_CHARS_MAX} characters`);
}

export const THINKING_TOKENS_MAX = 1_000_000;

/** null: the model's own default. */
export function parseThinkingTokens(raw: unknown): Parsed<number | null> {
  const whole = typeof raw === 'number' && Number.isInteger(raw);
  return raw === null || (whole && raw >= 0 && raw <= THINKING_TOKENS_MAX)
    ? { ok: true, value: raw }
    : fault(raw, `thinking tokens must be null or a whole number up to ${THINKING_TOKENS_MAX}`);
}

function isRecord(raw: unknown): raw is { readonly [key: string]: unknown } {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= max;
}

function isTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= ROLES_MAX &&
    value.every((one) => isText(one, ID_CHARS_MAX))
  );
}

function isSmallJson(value: unknown): boolean {
  if (depthOf(value) > SHAPE_DEPTH_MAX) return false;
  const text = JSON.stringify(value) as string | undefined;
  return text !== undefined && text.length <= VALUE_CHARS_MAX;
}

/** A payload that could not be decoded says so in its own words. */
function fault(raw: unknown, reason: string): { readonly ok: false; readonly reason: string } {
  const undecodable = isRecord(raw) ? ownValue(raw, '$undecodable') : undefined;
  return {
    ok: false,
    reason: typeof undecodable === 'string' ? `undecodable: ${undecodable}` : reason,
  };
}

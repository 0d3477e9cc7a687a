/**
 * Parses what arrives by signal or Update. Cheap shape and size checks in plain code, because no schema
 * library runs inside a workflow.
 * Invariants: total; what does not fit becomes a reason, quoted nowhere longer than bounded; own
 * properties only.
 */
import type { Answer, Decision } from '../state/ask.js';
import type { DecisionKind } from '../state/ask-kinds.js';
import { ownValue, type Json, fitsBytes } from '../json/json.js';
import {
  isPositiveUpTo,
  isRecord,
  isSmallJson,
  isText,
  type Fields,
  type Parsed,
} from '../json/shape.js';
import type { Attachment } from '../state/attachment.js';
import { parseAttachments } from './parse-attachments.js';
import { parseGrant } from './parse-grant.js';
import { PERMISSION_MODES, type PermissionMode } from '../state/permission-mode.js';
import { REASON_CHARS_MAX } from './reason-limit.js';

export type { Parsed };

export const MESSAGE_CHARS_MAX = 8_192;
/** As JSON: any text of that many characters that is not mostly control characters. */
export const MESSAGE_BYTES_MAX = 24_640;
/** A whole decision, as JSON, with the arguments that it may bring along. */
const DECISION_BYTES_MAX = 32_768;
const ID_CHARS_MAX = 400;
const KEY_ID_CHARS_MAX = 64;
const ROLES_MAX = 50;
const VALUE_CHARS_MAX = 4_096;
/** Arguments of a correction, before large strings are spilled. */
const ARGS_CHARS_MAX = 8_192;
const TOOL_CHARS_MAX = 128;

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
  const extras = parseExtras(raw, decision);
  if (!extras.ok) return fault(raw, extras.reason);
  const nonce = ownValue(raw, 'nonce');
  const kid = ownValue(raw, 'kid');
  const proof = ownValue(raw, 'proof');
  if (proof !== undefined && !isText(proof, REASON_CHARS_MAX))
    return fault(raw, 'proof must be a text');
  if (kid !== undefined && !isText(kid, KEY_ID_CHARS_MAX)) return fault(raw, 'kid must name a key');
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
  if (value !== undefined && !isSmallJson(value, VALUE_CHARS_MAX))
    return fault(raw, `value must be JSON of at most ${VALUE_CHARS_MAX} characters`);
  const parsed: Decision = {
    v: 1,
    askId,
    argsHash,
    decision: decision as DecisionKind,
    by,
    roles,
    decidedAt,
    ...(reason !== undefined && { reason: reason.slice(0, REASON_CHARS_MAX) }),
    ...(value !== undefined && { value: value as Json }),
    ...extras.value,
    ...(nonce !== undefined && { nonce }),
    ...(kid !== undefined && { kid }),
    ...(proof !== undefined && { proof }),
    ...(ownValue(raw, 'unrecorded') === true && { unrecorded: true }),
  };
  return fitsBytes(parsed, DECISION_BYTES_MAX)
    ? { ok: true, value: parsed }
    : fault(raw, `a decision must take at most ${DECISION_BYTES_MAX} bytes as JSON`);
}

type Extras = Pick<Decision, 'args' | 'tool' | 'amount' | 'grant' | 'interrupt'>;

/** What only some kinds of decision carry; what a kind does not carry is dropped. */
function parseExtras(raw: Fields, decision: unknown): Parsed<Extras> {
  if (decision === 'modify' || decision === 'replace') return parseCorrection(raw, decision);
  if (decision === 'reject') {
    const stops = ownValue(raw, 'interrupt') === true;
    return { ok: true, value: stops ? { interrupt: true } : {} };
  }
  if (decision !== 'approve') return { ok: true, value: {} };
  const amount = ownValue(raw, 'amount');
  if (amount !== undefined && !isPositiveUpTo(amount, Number.MAX_SAFE_INTEGER))
    return { ok: false, reason: 'amount must be a positive integer' };
  const grant = ownValue(raw, 'grant');
  const parsed = grant === undefined ? undefined : parseGrant(grant);
  if (parsed !== undefined && !parsed.ok) return parsed;
  return {
    ok: true,
    value: {
      ...(amount !== undefined && { amount }),
      ...(parsed !== undefined && { grant: parsed.value }),
    },
  };
}

function parseCorrection(raw: Fields, decision: 'modify' | 'replace'): Parsed<Extras> {
  const args = ownValue(raw, 'args');
  if (args === undefined || !isSmallJson(args, ARGS_CHARS_MAX))
    return { ok: false, reason: `args must be JSON of at most ${ARGS_CHARS_MAX} characters` };
  if (decision === 'modify') return { ok: true, value: { args: args as Json } };
  const tool = ownValue(raw, 'tool');
  if (!isText(tool, TOOL_CHARS_MAX)) return { ok: false, reason: 'tool must name a tool' };
  return { ok: true, value: { args: args as Json, tool } };
}

export function parseUserMessage(raw: unknown): Parsed<{
  readonly text: string;
  readonly id?: string;
  readonly attachments?: readonly Attachment[];
}> {
  if (!isRecord(raw)) return fault(raw, 'a message must be an object with a text');
  const text = ownValue(raw, 'text');
  const id = ownValue(raw, 'id');
  if (!isText(text, MESSAGE_CHARS_MAX))
    return fault(raw, `text must be a non-blank text of at most ${MESSAGE_CHARS_MAX} characters`);
  if (!fitsBytes(text, MESSAGE_BYTES_MAX))
    return fault(raw, `text must take at most ${MESSAGE_BYTES_MAX} bytes as JSON`);
  if (id !== undefined && !isText(id, ID_CHARS_MAX)) return fault(raw, 'id must be a short text');
  const attachments = parseAttachments(ownValue(raw, 'attachments'));
  if (!attachments.ok) return fault(raw, attachments.reason);
  return {
    ok: true,
    value: {
      text,
      ...(id !== undefined && { id }),
      ...(attachments.value !== undefined && { attachments: attachments.value }),
    },
  };
}

export function parseProvidedInput(raw: unknown): Parsed<Answer> {
  if (!isRecord(raw)) return fault(raw, 'an input must be an object');
  const askId = ownValue(raw, 'askId');
  const value = ownValue(raw, 'value');
  const by = ownValue(raw, 'by') ?? 'unknown';
  const roles = ownValue(raw, 'roles');
  if (roles !== undefined && !isTexts(roles))
    return fault(raw, `roles must be at most ${ROLES_MAX} texts`);
  if (!isText(askId, ID_CHARS_MAX)) return fault(raw, 'askId must be a non-empty text');
  if (!isText(by, ID_CHARS_MAX)) return fault(raw, 'by must be a text');
  if (value === undefined || !isSmallJson(value, VALUE_CHARS_MAX))
    return fault(raw, `value must be JSON of at most ${VALUE_CHARS_MAX} characters`);
  const answer = { askId, value: value as Json, by, ...(roles !== undefined && { roles }) };
  return { ok: true, value: answer };
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

/** Generations above a sub-agent; trees are far less deep. */
const ANCESTORS_MAX = 100;

export function parseModesAbove(raw: unknown): Parsed<readonly PermissionMode[]> {
  const read = Array.isArray(raw) ? raw.slice(0, ANCESTORS_MAX + 1).map(parsePermissionMode) : [];
  const modes = read.flatMap((one) => (one.ok ? [one.value] : []));
  return modes.length === 0 || modes.length !== read.length || read.length > ANCESTORS_MAX
    ? fault(raw, `the modes must be 1 to ${ANCESTORS_MAX} permission modes`)
    : { ok: true, value: modes };
}

export interface MoneyAnswer {
  readonly n: number;
  /** micro-USD */
  readonly amount: number;
}

export interface WantedFromBelow extends MoneyAnswer {
  readonly child: string;
}

export function parseWantedMoney(raw: unknown): Parsed<WantedFromBelow> {
  const child = isRecord(raw) ? ownValue(raw, 'child') : undefined;
  const wanted = parseMoneyAnswer(raw);
  return wanted.ok && wanted.value.amount > 0 && isText(child, ID_CHARS_MAX)
    ? { ok: true, value: { child, ...wanted.value } }
    : fault(raw, 'a sub-agent asks for money by {child, n, amount}');
}

export function parseMoneyAnswer(raw: unknown): Parsed<MoneyAnswer> {
  const [n, amount] = isRecord(raw) ? [ownValue(raw, 'n'), ownValue(raw, 'amount')] : [];
  const isAnswer = Number.isSafeInteger(amount) && Number(amount) >= 0;
  return isAnswer && Number.isSafeInteger(n) && Number(n) > 0
    ? { ok: true, value: { n: Number(n), amount: Number(amount) } }
    : fault(raw, 'money from above is answered by {n, amount}');
}

export function parsePermissionMode(raw: unknown): Parsed<PermissionMode> {
  const mode = PERMISSION_MODES.find((one) => one === raw);
  return mode === undefined
    ? fault(raw, `the mode must be one of ${PERMISSION_MODES.join(', ')}`)
    : { ok: true, value: mode };
}

function isTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= ROLES_MAX &&
    value.every((one) => isText(one, ID_CHARS_MAX))
  );
}

/** A payload that could not be decoded says so in its own words. */
function fault(raw: unknown, reason: string): { readonly ok: false; readonly reason: string } {
  const undecodable = isRecord(raw) ? ownValue(raw, '$undecodable') : undefined;
  return {
    ok: false,
    reason: typeof undecodable === 'string' ? `undecodable: ${undecodable}` : reason,
  };
}

/**
 * The answer of a task with an output schema: JSON that conforms to it, or what is wrong with it (C33).
 * Invariants: never throws for what a model or a caller wrote, and never takes long over it, although a schema
 * may hold a regular expression that backtracks for ever; messages are bounded; what is handed on is the value
 * that was checked, unchanged.
 */
import { z } from 'zod';
import { ARGUMENTS_BYTES_MAX, type Json, type StoredText } from '../../core/json/json.js';
import type { OutputCheck } from '../../core/state/model.js';
import type { StoreCalls } from '../../store/store.js';
import { findArgumentDefect } from '../tool/argument-limits.js';
import { withinOwnTime } from '../../sandbox/time-limit.js';

const MESSAGE_CHARS_MAX = 1_000;
/** Longer answers are not read as JSON. */
const ANSWER_CHARS_MAX = 1_000_000;
/** The worker can do nothing else meanwhile; an honest check takes a few ms. */
const CHECK_MS_MAX = 1_000;
/** Compiled schemas that a worker remembers: a run asks for the same one with every answer. */
const REMEMBERED_MAX = 50;

const remembered = new Map<string, z.ZodType>();

/** Why no answer can be checked against this schema, or undefined. */
export function outputSchemaDefect(schema: string): string | undefined {
  try {
    const { inTime } = withinOwnTime(CHECK_MS_MAX, () => compiled(schema));
    return inTime ? undefined : 'it is too large';
  } catch (error) {
    return `it is no JSON Schema that can be checked: ${messageOf(error)}`;
  }
}

export interface OutputPlace {
  readonly store: StoreCalls;
  readonly tenant: string;
}

/** Checks an answer's text. */
export async function checkOutput(
  { store, tenant }: OutputPlace,
  schema: StoredText,
  text: string,
): Promise<OutputCheck> {
  const parsed = parse(text);
  if (!parsed.ok) return parsed;
  const defect = defectOf(await store.getText(tenant, schema), parsed.value);
  if (defect !== undefined) return { ok: false, message: defect.slice(0, MESSAGE_CHARS_MAX) };
  const whole = JSON.stringify(parsed.value);
  if (Buffer.byteLength(whole) <= ARGUMENTS_BYTES_MAX) return parsed;
  return { ok: true, value: { ...(await store.putBlob(tenant, whole)) } };
}

function parse(text: string): OutputCheck {
  if (text.length > ANSWER_CHARS_MAX) return { ok: false, message: 'it is too long' };
  try {
    return { ok: true, value: JSON.parse(unfenced(text)) as Json };
  } catch {
    return { ok: false, message: 'it is not JSON' };
  }
}

/** Models like to put JSON between fences; one pair around the whole answer is not part of it. */
function unfenced(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed;
  const afterFirst = trimmed.indexOf('\n');
  return afterFirst === -1 ? trimmed : trimmed.slice(afterFirst + 1, -3);
}

function defectOf(schema: string, value: Json): string | undefined {
  const defect = findArgumentDefect(value);
  if (defect !== undefined) return defect;
  try {
    const check = () => compiled(schema).safeParse(value);
    // What was cut off may be half made.
    const checked = withinOwnTime(CHECK_MS_MAX, check, () => remembered.delete(schema));
    if (!checked.inTime) {
      return 'it could not be checked: its schema takes too long over it';
    }
    const { success, error } = checked.value;
    return success ? undefined : z.prettifyError(error);
  } catch (error) {
    return `it cannot be checked: ${messageOf(error)}`;
  }
}

function compiled(schema: string): z.ZodType {
  const known = remembered.get(schema);
  if (known !== undefined) return known;
  const fresh = z.fromJSONSchema(JSON.parse(schema) as z.core.JSONSchema.JSONSchema);
  const [oldest] = remembered.keys();
  if (remembered.size >= REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
  remembered.set(schema, fresh);
  return fresh;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : 'unreadable').slice(0, MESSAGE_CHARS_MAX);
}

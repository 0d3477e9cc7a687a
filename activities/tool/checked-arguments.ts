/**
 * Arguments of a call against the schema of its tool, and in their stored form.
 * Invariants: arguments that cannot be used are a value the model will see, never an error; what is handed
 * on is exactly what was checked.
 */
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { ownValue, type Json } from '../../core/json/json.js';
import type { CallCheck } from '../../core/state/model.js';
import type { StoreCalls } from '../../store/store.js';
import { findArgumentDefect } from './argument-limits.js';
import { codeOf } from './code-of.js';
import { outlookOf } from './controls-outlook.js';

export interface ArgumentSite {
  readonly config: Config;
  readonly store: StoreCalls;
  readonly tenant: string;
  /** ms since epoch. */
  readonly at: number;
}

export interface Checked {
  readonly args: Json;
  readonly check: CallCheck;
}

const MESSAGE_CHARS_MAX = 2_000;

/** Parses the arguments with the schema of the tool's code, as far as this worker has it. */
export function checkArguments(
  { config }: Pick<ArgumentSite, 'config'>,
  tool: { readonly name: string; readonly version: string },
  args: Json,
): Checked {
  const defect = findArgumentDefect(args);
  if (defect !== undefined) {
    return refused(args, 'invalid_arguments', `The arguments cannot be used: ${defect}.`);
  }
  const code = codeOf(config, tool);
  // This worker no longer has the code; execute_tool says so if the call gets that far.
  if (code === undefined) return { args, check: { ok: true } };
  const parsed = code.parse(args);
  if (!parsed.ok) return refused(args, 'invalid_arguments', parsed.message);
  const leftOut = leftOutOf(args, parsed.value);
  return {
    args: parsed.value,
    check: { ok: true, ...(leftOut.length > 0 && { leftOut }) },
  };
}

const LEFT_OUT_MAX = 10;
const LEFT_OUT_CHARS_MAX = 40;

/** Paths of fields that did not come through the schema, the first few. */
function leftOutOf(given: Json, kept: Json): readonly string[] {
  const found: string[] = [];
  const walk = (from: Json, to: Json, path: string): void => {
    if (!isNested(from) || !isNested(to)) return;
    for (const [name, value] of Object.entries(from)) {
      if (found.length >= LEFT_OUT_MAX) return;
      const below = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(to, name)) walk(value, ownValue(to, name) ?? null, below);
      else found.push(below.slice(0, LEFT_OUT_CHARS_MAX));
    }
  };
  walk(given, kept, '');
  return found;
}

function isNested(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null;
}

/** Arguments in their stored form; what has none is refused without them. */
export async function spillChecked(
  { store, tenant }: Pick<ArgumentSite, 'store' | 'tenant'>,
  checked: Checked,
): Promise<Checked> {
  const defect = findArgumentDefect(checked.args);
  if (defect !== undefined) return { args: {}, check: checked.check };
  try {
    const { args } = await store.spillArguments(tenant, checked.args);
    return { args, check: checked.check };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'InvalidRequest') throw error;
    if (!checked.check.ok) return { args: {}, check: checked.check };
    return refused({}, 'invalid_arguments', `The arguments cannot be used: ${error.message}`);
  }
}

/** Good arguments with what the business controls say of them, as far as this worker has the tool's code. */
export async function withOutlook(
  { config, store, tenant, at }: ArgumentSite,
  tool: { readonly name: string; readonly version: string },
  checked: Checked,
): Promise<CallCheck> {
  const code = codeOf(config, tool);
  if (code === undefined || !checked.check.ok) return checked.check;
  const outlook = await outlookOf(store, { tenant, tool: code, input: checked.args, at });
  return { ...checked.check, ...(outlook !== undefined && { outlook }) };
}

export function refused(
  args: Json,
  code: Extract<CallCheck, { ok: false }>['code'],
  message: string,
): Checked {
  return { args, check: { ok: false, code, message: message.slice(0, MESSAGE_CHARS_MAX) } };
}

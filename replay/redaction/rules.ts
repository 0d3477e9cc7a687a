/**
 * The rules of a redaction, from a JSON file that whoever exports has written.
 * Errors: `Usage` with the place, because the file is a part of the command line.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { parseJsonText } from '../../pure/json-text.js';

const RULES_MAX = 100;
const PATTERN_CHARS_MAX = 2_000;

const name = z.string().min(1).max(100);
const rule = z.union([
  z.strictObject({ name, key: z.string().min(1).max(200) }),
  z.strictObject({
    name,
    pointer: z
      .string()
      .max(1_000)
      .regex(/^(\/.*)?$/),
  }),
  z.strictObject({
    name,
    regex: z.string().min(1).max(PATTERN_CHARS_MAX),
    flags: z
      .string()
      .regex(/^[imsu]*$/)
      .optional(),
  }),
]);
const document = z.strictObject({ rules: z.array(rule).min(1).max(RULES_MAX) });

export type RedactionRule =
  /** Texts under this name, at any depth, but not in JSON Schemas. */
  | { readonly name: string; readonly key: string }
  /** Texts at this JSON pointer of any recorded value. */
  | { readonly name: string; readonly pointer: string }
  /** What this pattern matches in any text. */
  | { readonly name: string; readonly pattern: RegExp };

export async function readRules(file: string): Promise<readonly RedactionRule[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    // What the system refuses is told as that.
    throw /^(?:ENOENT|ENOTDIR|EISDIR)$/.test(code) ? invalidRules(file, message) : cause;
  });
  const parsed = parseJsonText(text);
  if (!parsed.ok) {
    const { line, column, reason } = parsed;
    throw invalidRules(file, `line ${line}, column ${column}: ${reason}`);
  }
  return parseRules(parsed.value, file);
}

export function parseRules(value: unknown, file: string): readonly RedactionRule[] {
  const checked = document.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw invalidRules(file, `${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { rules } = checked.data;
  const names = new Set(rules.map((one) => one.name));
  if (names.size < rules.length) throw invalidRules(file, 'two rules have the same name');
  return rules.map((one) =>
    'regex' in one ? { name: one.name, pattern: patternOf(one, file) } : one,
  );
}

function patternOf(
  one: { readonly name: string; readonly regex: string; readonly flags?: string | undefined },
  file: string,
): RegExp {
  let pattern: RegExp;
  try {
    pattern = new RegExp(one.regex, `g${one.flags ?? ''}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidRules(file, `rule ${one.name}: ${reason}`);
  }
  if (pattern.test('')) throw invalidRules(file, `rule ${one.name}: it matches the empty text`);
  return pattern;
}

function invalidRules(file: string, reason: string): HoldfastError {
  return new HoldfastError('Usage', `The rules in ${file} cannot be used: ${reason}.`, {
    hint: 'A rule is {"name", "key"}, {"name", "pointer"} or {"name", "regex", "flags"}; see docs/guide/replay.md in the package holdfast.',
  });
}

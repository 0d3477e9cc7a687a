/** A permission policy as authors write it, checked; its version is derived when none is given. */
import { z } from 'zod';
import { digestOf, type Json } from '../core/json/json.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Place } from './check-limits.js';
import { EMPTY_POLICY, type Policy, type PolicyRule } from '../core/state/policy.js';
import { parseFields } from './parse-fields.js';

const RULES_MAX = 200;
const TEXT_CHARS_MAX = 500;
const VERSION_CHARS = 12;

/** Rules that allow, refuse or ask about calls, before what the tool itself says. */
export interface PolicyDeclaration {
  readonly version?: string;
  /** Ordered; the first rule that matches decides. */
  readonly rules: readonly PolicyRule[];
}

const conditionSchema = z
  .strictObject({
    path: z.string().regex(/^[^.]+(\.[^.]+)*$/, 'must be a dotted path'),
    equals: z.json().optional(),
    lte: z.number().optional(),
    gte: z.number().optional(),
    exists: z.boolean().optional(),
  })
  .refine(
    ({ equals, lte, gte, exists }) =>
      equals !== undefined || lte !== undefined || gte !== undefined || exists !== undefined,
    'compares with nothing; give equals, lte, gte or exists',
  );

const policySchema = z.strictObject({
  version: z.string().min(1).max(64).optional(),
  rules: z
    .array(
      z.strictObject({
        tool: z
          .string()
          .regex(/^([A-Za-z0-9_.-]+\*?|\*)$/, 'must be a tool name or a prefix with *'),
        decision: z.enum(['allow', 'deny', 'ask', 'sandbox']),
        reason: z.string().max(TEXT_CHARS_MAX).optional(),
        terminal: z.boolean().optional(),
        when: conditionSchema.optional(),
      }),
    )
    .max(RULES_MAX),
});

export function policyOf(
  agent: string,
  declared: PolicyDeclaration | undefined,
  { code, subject }: Place = { code: 'InvalidAgent', subject: `Agent ${agent}` },
): Policy {
  if (declared === undefined) return EMPTY_POLICY;
  const result = parseFields(policySchema, declared);
  if (!result.success) {
    const issue = result.error.issues[0];
    const path = ['policy', ...(issue?.path ?? [])].join('.');
    throw new HoldfastError(
      code,
      `${subject}: ${path} is not allowed: ${issue?.message ?? 'not valid'}.`,
      {
        hint: 'A rule is {tool, decision: allow | deny | ask | sandbox, when?, reason?, terminal?}; `when` is {path} with equals, lte, gte or exists.',
      },
    );
  }
  // JSON leaves out absent fields, so that the version does not depend on how they were left out.
  const rules = JSON.parse(JSON.stringify(result.data.rules)) as readonly PolicyRule[];
  const version = result.data.version ?? digestOf(rules as unknown as Json).slice(0, VERSION_CHARS);
  return { version, rules };
}

/**
 * A permission policy: frozen, ordered rules, the first match wins (PA-02, fixtures `policy`).
 * Invariants: deciding is pure; names and paths from outside never reach a prototype.
 */
import { canonicalJson } from './digest.js';
import { isBlobRef, ownValue, type Json } from './json.js';

export type PolicyCondition = {
  /** Dotted path into the arguments. */
  readonly path: string;
  readonly equals?: Json;
  readonly lte?: number;
  readonly gte?: number;
  readonly exists?: boolean;
};

export interface PolicyRule {
  /** Exact tool name, or a prefix that ends in `*`. */
  readonly tool: string;
  /** `sandbox`: allowed, but only in the tool's sandbox. */
  readonly decision: 'allow' | 'deny' | 'ask' | 'sandbox';
  readonly reason?: string;
  /** A denial that ends the run (C9). */
  readonly terminal?: boolean;
  readonly when?: PolicyCondition;
}

export interface Policy {
  readonly version: string;
  readonly rules: readonly PolicyRule[];
}

export const EMPTY_POLICY: Policy = { version: '0', rules: [] };

/** The first rule that matches, with its index as id, or undefined. */
export function matchRule(
  policy: Policy,
  tool: string,
  args: Json,
): { readonly rule: PolicyRule; readonly index: number } | undefined {
  const index = policy.rules.findIndex(
    (rule) => matchesName(rule.tool, tool) && (rule.when === undefined || holds(rule.when, args)),
  );
  const rule = policy.rules[index];
  return rule === undefined ? undefined : { rule, index };
}

export function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

export function holds(condition: PolicyCondition, args: Json): boolean {
  const value = valueAt(args, condition.path);
  if (condition.exists !== undefined && (value !== undefined) !== condition.exists) return false;
  if (condition.equals !== undefined && !isSame(value, condition.equals)) return false;
  if (condition.lte !== undefined && !(typeof value === 'number' && value <= condition.lte))
    return false;
  if (condition.gte !== undefined && !(typeof value === 'number' && value >= condition.gte))
    return false;
  return true;
}

/** Equal as JSON: the order of keys, which a model chooses freely, says nothing. */
function isSame(value: Json | undefined, wanted: Json): boolean {
  return value !== undefined && canonicalJson(value) === canonicalJson(wanted);
}

function valueAt(args: Json, path: string): Json | undefined {
  let value: Json | undefined = args;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isBlobRef(value))
      return undefined;
    value = ownValue(value as { readonly [key: string]: Json }, key);
  }
  return value;
}

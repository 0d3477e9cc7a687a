/**
 * A permission policy: frozen, ordered rules, the first match wins.
 * Invariants: deciding is pure; names and paths from outside never reach a prototype.
 */
import { type Condition } from '../json/condition.js';

export type PolicyCondition = Condition;

export interface PolicyRule {
  /** Exact tool name, or a prefix that ends in `*`. */
  readonly tool: string;
  /** `sandbox`: allowed, but only in the tool's sandbox. */
  readonly decision: 'allow' | 'deny' | 'ask' | 'sandbox';
  readonly reason?: string;
  /** A denial that ends the run (C9). */
  readonly terminal?: boolean;
  /** On the arguments. */
  readonly when?: PolicyCondition;
}

export interface Policy {
  readonly version: string;
  readonly rules: readonly PolicyRule[];
}

export const EMPTY_POLICY: Policy = { version: '0', rules: [] };

export function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** What the decisions of one activation have met; read and emptied by the recorder when the activation ends. */
import type { ChangeName } from '../../../core/step/changes.js';

export interface Seen {
  /** Types of the inputs that were received together. */
  readonly inputs: readonly string[];
  /** Rules that fired. */
  readonly rules: readonly string[];
  /** `name` or `!name`: whether the run follows the change. */
  readonly asked: readonly string[];
}

/** Before rules and inputs of goals. */
export const OF_GOAL = 'goal: ';

let inputs: string[] = [];
let rules: string[] = [];
let asked = new Set<string>();

export function sawInput(type: string): void {
  inputs.push(type);
}

export function sawRules(fired: readonly string[]): void {
  rules.push(...fired);
}

export function sawQuestion(change: ChangeName, holds: boolean): void {
  asked.add(holds ? change : `!${change}`);
}

export function takeSeen(): Seen {
  const seen = { inputs, rules, asked: [...asked] };
  inputs = [];
  rules = [];
  asked = new Set();
  return seen;
}

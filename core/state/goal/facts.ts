/** Small facts about a goal that its state, payloads and events share. */
import type { StoredText } from '../../json/json.js';

export interface PlanFacts {
  readonly revision: number;
  /** Steps that are neither done nor dropped. */
  readonly open: number;
  readonly done: number;
  readonly steps: number;
}

export interface CheckFacts {
  /** Runs of it so far, the baseline included. */
  readonly n: number;
  readonly known: boolean;
  /** Conditions that its newest result meets, by their index. */
  readonly held: readonly number[];
  readonly value?: number;
  readonly best?: number;
  readonly digest?: string;
  /** Cycles in a row after which it was unknown. */
  readonly unknownCycles: number;
  /** Cycle behind which it ran last. */
  readonly cycle: number;
  readonly because?: string;
}

export interface Judgement {
  /** Of what it was shown. */
  readonly digest: string;
  readonly valid: boolean;
  readonly score?: number;
  readonly evidence: readonly string[];
  /** A person answered in its place. */
  readonly by?: string;
  /** Behind which cycle the person did: the answer holds until the next one ends. */
  readonly cycle?: number;
}

export interface Steer {
  readonly id: string;
  readonly text: StoredText;
  readonly by: string;
  readonly proven: boolean;
}

export type ProgressItem =
  | {
      readonly kind: 'measure';
      readonly id: string;
      readonly value: number;
      readonly best?: number;
    }
  | { readonly kind: 'step'; readonly id: string }
  | { readonly kind: 'state'; readonly id: string }
  | { readonly kind: 'effect'; readonly id: string };

/** A plan that is to take the place of the one before. */
export interface ChangedPlan {
  /** Hash of the memory with it. */
  readonly memory: string;
  readonly facts: PlanFacts;
  readonly by: string;
}

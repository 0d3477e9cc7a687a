/** Payloads of the activity that asks a supervisor. They carry references to events, never the events of the run again. */
import type { AttemptBound, Usage } from '../model.js';
import type { SupervisorTerms, SupervisorWord } from '../supervision.js';
import type { ModelRetries, SpendingLeft } from './model-payloads.js';
import type { Acknowledged, EventBatch, Limited, RunRef } from './payload.js';

export interface AskSupervisorInput extends EventBatch, Limited {
  readonly v: 1;
  readonly run: RunRef;
  /** Of this look, from 1. */
  readonly number: number;
  readonly goal: string;
  readonly terms: Pick<SupervisorTerms, 'agent' | 'route' | 'instructions' | 'maxTokens'>;
  /** Events from `from` on and below `to` are looked at. */
  readonly from: number;
  readonly to: number;
  /** Of one attempt: the question is never longer than its `inputTokens` bytes. */
  readonly bound: AttemptBound;
  readonly left: SpendingLeft;
  readonly maxRetries: ModelRetries;
}

export interface AskSupervisorOutput extends Acknowledged {
  /** Absent: no valid answer. */
  readonly word?: SupervisorWord;
  /** Why there is no word. */
  readonly invalid?: string;
  readonly usage: Usage;
  /** Of attempts that brought no reply. */
  readonly lostCostMicroUsd: number;
  readonly lostUsage: Usage;
}

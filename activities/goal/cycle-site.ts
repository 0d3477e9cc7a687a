/** What a call of a goal tool is checked against, and what may become of it. */
import type { StoredDefinition } from '../../core/state/goal/definition.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { Proposal } from '../../core/state/goal/proposal.js';
import type { EvidenceReader } from './evidence-reader.js';

export interface CycleSite {
  /** ms since epoch. */
  readonly at: number;
  /** As the cycle began with it. */
  readonly memory: GoalMemory;
  readonly definition: StoredDefinition;
  /** What this cycle proposed before, in its order. */
  readonly before: readonly Proposal[];
  /** What an earlier delivery of this call has kept. */
  readonly own?: Proposal;
  readonly reader: EvidenceReader;
}

export type Judged = {
  /** Ids of the call that are no evidence. */
  readonly unknown: readonly string[];
} & (
  | { readonly proposal: Proposal; readonly says: string; readonly refusal?: undefined }
  | { readonly refusal: string }
);

export function refused(refusal: string, unknown: readonly string[] = []): Judged {
  return { refusal, unknown };
}

export interface Cited {
  readonly known: readonly string[];
  readonly unknown: readonly string[];
}

/** Which of the ids stand for evidence of this goal. */
export async function citedOf(
  { reader }: Pick<CycleSite, 'reader'>,
  ids: readonly string[] = [],
): Promise<Cited> {
  const known: string[] = [];
  const unknown: string[] = [];
  for (const id of new Set(ids)) {
    ((await reader.find(id)) === undefined ? unknown : known).push(id);
  }
  return { known, unknown };
}

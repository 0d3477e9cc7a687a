/**
 * A decision under a name (`nonce`) that its person has used before: the run takes it for the one of then, whatever it says.
 */
import type { DecisionKind, AskOutcome } from '../../core/state/ask-kinds.js';
import type { RejectionReason } from '../../core/state/ask.js';
import type { Link } from '../link.js';
import { readAsks } from '../runs/state.js';

interface Decided {
  readonly askId: string;
  readonly decision: DecisionKind;
  readonly by: string;
}

/** What one word decides alone. */
const OUTCOMES: Partial<Record<DecisionKind, AskOutcome>> = {
  reject: 'rejected',
  happened: 'happened',
  not_happened: 'not_happened',
  stop: 'stopped',
};

interface Refusal {
  readonly accepted: false;
  readonly reason: RejectionReason;
  readonly message: string;
}

/** Why a decision that was accepted is not the one that the run has; undefined: it is, or nobody can say. */
export async function contraryTo(
  link: Link,
  runId: string,
  said: Decided & { readonly outcome: AskOutcome },
): Promise<Refusal | undefined> {
  const { askId, by, decision, outcome } = said;
  if (outcome !== 'pending') {
    const wanted = OUTCOMES[decision];
    if (wanted === undefined ? outcome !== 'rejected' : outcome === wanted) return undefined;
    return refusal(`the question is ${outcome}`);
  }
  const asks = await readAsks(link, runId).catch(() => []);
  const votes = asks.find((ask) => ask.askId === askId)?.votes ?? [];
  const earlier = votes.find((vote) => vote.by === by);
  if (earlier === undefined || earlier.decision === decision) return undefined;
  return refusal(`${by} has said ${earlier.decision} under this name before, which stands`);
}

function refusal(message: string): Refusal {
  return { accepted: false, reason: 'duplicate', message };
}

/**
 * Plays the people: approves every payment that is asked about, and says of a payment of which nobody heard what the
 * payment service says.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';
import { limited } from '../../evaluation/pool.js';
import type { AskRow } from '../../store/asks.js';
import { ROLE } from './agent.js';
import type { Place } from './place.js';

export interface Desk {
  /** When the approval of a run was first sent, by run; ms since epoch. */
  readonly approvedAt: ReadonlyMap<string, number>;
  /** Runs that asked what became of their payment. */
  readonly parked: ReadonlySet<string>;
  /** Longest time from a question to its answer, ms. */
  readonly longestAnswerMs: number;
  /** Resolves when it has stopped. */
  stop(): Promise<void>;
}

export interface DeskSettings {
  /** Its client changes when the store is replaced. */
  readonly place: Pick<Place, 'client' | 'service'>;
  /** Questions that are open now. */
  readonly openAsks: () => Promise<readonly OpenAsk[]>;
}

export type OpenAsk = Pick<AskView, 'askId' | 'kind' | 'openedAt'> & Pick<AskRow, 'runId'>;

const PAUSE_MS = 250;
/** An answer counts when a worker gets to it: nobody answers again at once. */
const AGAIN_MS = 30_000;
const ANSWERS_AT_ONCE = 16;
const WHO = { by: 'maria', roles: [ROLE] };

export function openDesk({ place, openAsks }: DeskSettings): Desk {
  const approvedAt = new Map<string, number>();
  const parked = new Set<string>();
  const longest = { ms: 0 };
  const answeredAt = new Map<string, number>();
  const isDue = ({ askId }: OpenAsk): boolean => {
    const due = (answeredAt.get(askId) ?? 0) + AGAIN_MS < Date.now();
    if (due) answeredAt.set(askId, Date.now());
    return due;
  };
  const answer = limited(ANSWERS_AT_ONCE, async ({ runId, askId, kind, openedAt }: OpenAsk) => {
    const run = place.client.handle(runId);
    if (kind === 'approval') {
      if (!approvedAt.has(runId)) approvedAt.set(runId, Date.now());
      await run.approve(askId, WHO);
    } else {
      parked.add(runId);
      const made = (await place.service.payments()).some((payment) => payment.runId === runId);
      const said = made
        ? ({ kind: 'happened', value: { paid: true } } as const)
        : ({ kind: 'not_happened' } as const);
      await run.answer(askId, said, WHO);
    }
    longest.ms = Math.max(longest.ms, Date.now() - openedAt);
  });
  const stop = new AbortController();
  const loop = (async () => {
    while (!stop.signal.aborted) {
      const asks = await openAsks().catch(noneWhileAway);
      await Promise.all(asks.filter(isDue).map((ask) => answer(ask).catch(againLater)));
      await sleep(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    approvedAt,
    parked,
    get longestAnswerMs() {
      return longest.ms;
    },
    async stop() {
      stop.abort();
      await loop;
    },
  };
}

function noneWhileAway(error: unknown): readonly OpenAsk[] {
  if (error instanceof HoldfastError) return [];
  throw error;
}

/** A question that was answered meanwhile, and a server, store or worker that is away: the next look tells. */
function againLater(error: unknown): void {
  if (!(error instanceof HoldfastError)) throw error;
}

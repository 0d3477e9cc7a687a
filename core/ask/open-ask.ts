/**
 * Opening and closing asks.
 * Invariants: an ask opens with its expiry timer and its event, closes with both gone and its outcome
 * announced; early decisions (G12) are put to it at once.
 */
import { cancelTimer, nextId, startTimer, only } from '../step/inflight.js';
import type { ActionView } from '../state/event.js';
import { emit } from '../step/outbox.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import type { Ask, Escalation } from '../state/ask.js';
import type { AskOutcome } from '../state/ask-kinds.js';
import { withoutCorrection } from './correction.js';
import { record } from './decide.js';
import { unwatchEscalation, watchEscalation } from './escalation.js';
import { refuseWords } from './held-words.js';
import { follows } from '../step/changes.js';
import type { GrantRequest } from '../state/grant.js';
import { askById, replaceAsk, viewOf } from '../step/open-work.js';

export type AskRequest = Omit<
  Ask,
  | 'openedAt'
  | 'expiresAt'
  | 'votes'
  | 'outcome'
  | 'elapsed'
  | 'timer'
  | 'policyVersion'
  | 'escalation'
> & {
  readonly expiresInMs: number;
  readonly votes?: Ask['votes'];
  readonly escalation?: Escalation;
};

/** The ask as it would be opened now. */
export function askFrom(run: OpenRun, request: AskRequest): Ask {
  const { expiresInMs, votes = [], escalation, ...asked } = request;
  // The timer of the expiry comes first.
  const timer = `timer-${run.nextEffect + 1}`;
  return {
    ...asked,
    policyVersion: run.frozen.policy.version,
    openedAt: run.now,
    expiresAt: run.now + expiresInMs,
    votes,
    outcome: 'pending',
    elapsed: false,
    timer: nextId(run, 'timer'),
    ...(escalation !== undefined && {
      escalation: { ...escalation, timer, state: 'ahead' as const },
    }),
  };
}

export function openAsk(run: OpenRun, request: AskRequest): Step<OpenRun> {
  const ask = askFrom(run, request);
  const timed = startTimer(run, { at: ask.expiresAt, summary: `${ask.kind} expires` });
  const watched = ask.escalation === undefined ? timed : watchEscalation(timed, ask);
  const asking: OpenRun = { ...watched.run, asks: [...run.asks, ask] };
  const type = ask.kind === 'approval' ? 'approval_requested' : 'input_request';
  return {
    run: withEarlyDecisions(emit(asking, { type, ...viewOf(ask) }), ask),
    effects: watched.effects,
  };
}

function withEarlyDecisions(run: OpenRun, ask: Ask): OpenRun {
  const mine = run.early.filter((entry) => entry.decision.askId === ask.id);
  const early = run.early.filter((entry) => entry.decision.askId !== ask.id);
  const opened: OpenRun = { ...run, early };
  return mine.reduce<OpenRun>(
    (next, { decision, at }) => record(next, decision, { at }).run as OpenRun,
    opened,
  );
}

export interface Closing {
  readonly outcome: Exclude<AskOutcome, 'pending'>;
  readonly reason?: string;
  /** How much more of a budget was allowed. */
  readonly amount?: number;
  /** What is wanted instead, with 'modified' and 'replaced'. */
  readonly corrected?: ActionView;
}

/** Ends an ask with an outcome: its timer goes, its event is emitted. The ask stays for the record. */
export function closeAsk<R extends Run>(run: R, askId: string, closing: Closing): Step<R> {
  const ask = askById(run, askId);
  if (ask === undefined || ask.outcome !== 'pending') return only(run);
  const expiryGone = cancelTimer(run, ask.timer);
  const untimed = ask.escalation === undefined ? expiryGone : unwatchEscalation(expiryGone, ask);
  const { correction, ...rest } = withoutForm(ask);
  const answered = correction === undefined ? untimed.run : unheard(untimed.run, ask, closing);
  const closed = replaceAsk(answered, { ...rest, outcome: closing.outcome });
  return { run: announce(closed, ask, closing), effects: untimed.effects };
}

/** What a server asked stands in the event of the question; a closed one needs none of it (R1). */
function withoutForm(ask: Ask): Ask {
  const { elicitation, question: _, ...rest } = ask;
  return elicitation === undefined ? ask : rest;
}

/** Whoever waits for a correction to be checked hears that the question is closed. */
function unheard<R extends Run>(run: R, ask: Ask, { outcome }: Closing): R {
  const { correction } = ask;
  if (correction !== undefined && follows(run, 'heldWords')) {
    return refuseWords(run, ask, {
      words: [correction, ...(correction.held ?? [])],
      decided: { outcome },
    });
  }
  const message = `the question is ${outcome}`;
  return withoutCorrection(run, ask, { accepted: false, reason: 'already_decided', message });
}

function announce<R extends Run>(run: R, ask: Ask, closing: Closing): R {
  const by = ask.votes.map((vote) => vote.by);
  const about = {
    askId: ask.id,
    ...(ask.callId !== undefined && { callId: ask.callId }),
  };
  if (closing.outcome === 'withdrawn') {
    return emit(run, {
      type: 'approval_withdrawn',
      ...about,
      reason: closing.reason ?? 'no longer needed',
    });
  }
  if (ask.kind !== 'approval') {
    const { outcome, amount } = closing;
    const more = amount !== undefined && { amount };
    return emit(run, { type: 'input_provided', ...about, outcome, by, ...more });
  }
  return emit(run, {
    type: 'approval_resolved',
    ...about,
    ...(ask.tool !== undefined && { tool: ask.tool }),
    outcome: closing.outcome,
    by,
    ...(closing.reason !== undefined && { reason: closing.reason }),
    ...(closing.corrected !== undefined && {
      original: { tool: ask.tool ?? '', args: ask.args ?? null },
      corrected: closing.corrected,
    }),
    ...grantTold(ask),
    waitedMs: run.now - ask.openedAt,
  });
}

function grantTold(ask: Ask): { readonly grant?: GrantRequest } {
  const grant = ask.votes.find((vote) => vote.grant !== undefined)?.grant;
  return grant === undefined ? {} : { grant };
}

/** Withdraws every open ask, for example because the run ends. */
export function withdrawAsks<R extends Run>(run: R, reason: string): Step<R> {
  const open = run.asks.filter((ask) => ask.outcome === 'pending');
  return open.reduce<Step<R>>((step, ask) => {
    const closed = closeAsk(step.run, ask.id, { outcome: 'withdrawn', reason });
    return { run: closed.run, effects: [...step.effects, ...closed.effects] };
  }, only(run));
}

/**
 * Words that meet a correction (G119): what others say of a question while somebody's correction of it is checked.
 * Invariants: at most HELD_WORDS_MAX wait with a correction, one of each person; a rejection among them beats it; each
 * either becomes a vote, or its sender hears who decided, and when, and the run's events name it.
 */
import { follows } from '../step/changes.js';
import { decidedOf, outcomeOf, replaceAsk, withVerdict } from '../step/open-work.js';
import type { Ask, Correction, Decided, Decision, HeldWord, Vote } from '../state/ask.js';
import type { Run } from '../state/run.js';
import { tellRefusal, type Refusal } from './told.js';

export const HELD_WORDS_MAX = 20;

/** Why this word cannot wait with the correction that is being checked. */
export function objectionToHolding(
  { correction }: Ask,
  { by }: Pick<Decision, 'by'>,
): Refusal | undefined {
  const { held = [] } = correction ?? {};
  if (held.some(({ vote }) => vote.by === by))
    return { reason: 'duplicate', message: `${by} has already decided` };
  return held.length < HELD_WORDS_MAX
    ? undefined
    : { reason: 'busy', message: 'a correction is being looked at; decide again in a moment' };
}

interface Waiting {
  readonly vote: Vote;
  readonly ticket: string | undefined;
}

/** The run with this word beside the correction. */
export function hold<R extends Run>(run: R, ask: Ask, { vote, ticket }: Waiting): R {
  const { correction } = ask;
  if (correction === undefined) return run;
  const word: HeldWord = { vote, ...(ticket !== undefined && { ticket }) };
  const held = [...(correction.held ?? []), word];
  return replaceAsk(run, { ...ask, correction: { ...correction, held } });
}

/** Somebody has rejected meanwhile. */
export function isBeaten({ held = [] }: Correction): boolean {
  return held.some(isAgainst);
}

/** The question goes on without its correction: what was held counts now, a rejection before anything else. */
export function hearHeld<R extends Run>(run: R, ask: Ask, held: readonly HeldWord[]): R {
  const inOrder = [...held.filter(isAgainst), ...held.filter((word) => !isAgainst(word))];
  return inOrder.reduce<{ readonly run: R; readonly ask: Ask }>(hear, { run, ask }).run;
}

function hear<R extends Run>({ run, ask }: { run: R; ask: Ask }, word: HeldWord) {
  const before = outcomeOf(ask);
  if (before !== 'pending' && before !== 'expired') {
    return { run: refuseWords(run, ask, { words: [word], decided: decidedOf(ask) }), ask };
  }
  const voted: Ask = { ...ask, votes: [...ask.votes, word.vote] };
  const verdict = { accepted: true, outcome: outcomeOf(voted) } as const;
  return { run: withVerdict(replaceAsk(run, voted), word.ticket, verdict), ask: voted };
}

interface Losers {
  readonly words: readonly HeldWord[];
  readonly decided: Decided;
}

/** Tells those who said them, and the trail, that the question was decided otherwise. */
export function refuseWords<R extends Run>(run: R, ask: Ask, { words, decided }: Losers): R {
  const refusal = alreadyDecided(run, decided);
  return words.reduce<R>((next, { vote, ticket }) => {
    const { by, decision, nonce } = vote;
    if (decision === 'answer') return next;
    const said = { askId: ask.id, argsHash: ask.digest, by, decision };
    const told = tellRefusal(
      next,
      { ...said, ...(nonce !== undefined && { nonce }) },
      { ...refusal, held: true },
    );
    return withVerdict(told, ticket, { accepted: false, ...refusal });
  }, run);
}

export function alreadyDecided(run: Run, decided: Decided): Refusal {
  const { outcome, by } = decided;
  const reason = 'already_decided';
  if (!follows(run, 'heldWords')) return { reason, message: `this ask is ${outcome}` };
  const message = by === undefined ? `this ask is ${outcome}` : `this ask was ${outcome} by ${by}`;
  return { reason, message, decided };
}

function isAgainst({ vote }: HeldWord): boolean {
  return vote.decision !== 'approve';
}

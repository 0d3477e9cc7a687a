/** What the parts of the panel decide with. */
import { pathOf } from '../data/api.js';
import type { Delivery } from '../data/api-types.js';
import { usePosting } from '../data/use-posting.js';
import { words } from '../parts/format.js';

export interface Decision {
  readonly decision: string;
  readonly [name: string]: unknown;
}

/** What somebody can begin to say in place of the buttons. */
export type Form = 'correct' | 'reject' | 'grant' | 'happened' | 'not happened' | 'stop';

export interface Desk {
  readonly decide: (decision: Decision) => Promise<void>;
  readonly answer: (value: unknown) => Promise<void>;
  /** Undefined: the buttons again. */
  readonly open: (form: Form | undefined) => void;
  /** Empty: nothing is to complain about any more. */
  readonly complain: (text: string) => void;
}

export type What = 'decisions' | 'answers';
export type Send = (what: What, body: object) => Promise<Delivery>;

/** Sends what somebody said. */
export function useSender(askId: string): Send {
  const send = usePosting();
  return (what, body) =>
    send(pathOf(what === 'answers' ? 'questions' : 'approvals', askId, what), body);
}

export function deliveredText({ state, outcome, storeAway }: Delivery): string {
  if (storeAway === true) {
    return 'Sent. The store is away: the page shows whether the decision counts when the store is back.';
  }
  if (state === 'sent') return 'Sent. The decision counts as soon as a worker has taken it up.';
  if (outcome === 'pending') return 'Your word is noted. More people have to decide.';
  return `Decided: ${words(outcome ?? state)}.`;
}

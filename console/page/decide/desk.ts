/** What the parts of the panel decide with. */
import { useRef } from 'preact/hooks';
import { newKey, pathOf, post, isRefusal } from '../data/api.js';
import type { Delivery } from '../data/api-types.js';
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

/**
 * Sends what somebody said. Requests of one wording share a key, as long as nobody knows what became of them:
 * pressing again after a lost answer is no second decision.
 */
export function useSender(askId: string): Send {
  const keys = useRef(new Map<string, string>());
  return async (what, body) => {
    const wording = JSON.stringify(body);
    const key = keys.current.get(wording) ?? newKey();
    keys.current.set(wording, key);
    const path = pathOf(what === 'answers' ? 'questions' : 'approvals', askId, what);
    try {
      return await post<Delivery>(path, body, key);
    } catch (error) {
      if (isRefusal(error) && error.status !== 429) keys.current.delete(wording);
      throw error;
    }
  };
}

export function deliveredText({ state, outcome, storeAway }: Delivery): string {
  if (storeAway === true) {
    return 'Sent. The store is away: the page shows whether the decision counts when the store is back.';
  }
  if (state === 'sent') return 'Sent. The decision counts as soon as a worker has taken it up.';
  if (outcome === 'pending') return 'Your word is noted. More people have to decide.';
  return `Decided: ${words(outcome ?? state)}.`;
}

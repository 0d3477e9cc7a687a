/**
 * Deciding on one action. Every decision names the hash of the action that is on the card, and its run, so that it
 * finds its way while the store is away.
 * Invariant: it is for one action, the one that the panel was made with; whoever learns of another one makes another
 * panel.
 */
import { useState } from 'preact/hooks';
import { ApiProblem, wordsOf } from '../data/api.js';
import type { Ask } from '../data/api-types.js';
import { deliveredText, useSender, type Desk, type Form, type What } from './desk.js';

export interface Said {
  readonly text: string;
  /** It stays true when the question is closed. */
  readonly isFinal: boolean;
}

export interface Deciding {
  readonly desk: Desk;
  readonly opened: Form | undefined;
  readonly fault: string;
  /** What was delivered last; another object for each delivery. */
  readonly said: Said;
  /** As it was told here; undefined: the question is open, as far as can be told here. */
  readonly outcome: string | undefined;
}

export function useDecision(ask: Ask, changed: () => void): Deciding {
  const [{ askId, argsHash, runId }] = useState(ask);
  const [opened, setOpened] = useState<Form>();
  const [fault, setFault] = useState('');
  const [said, setSaid] = useState<Said>({ text: '', isFinal: true });
  const [outcome, setOutcome] = useState<string>();
  const sender = useSender(askId);
  const send = async (what: What, body: object): Promise<void> => {
    setFault('');
    try {
      const delivery = await sender(what, body);
      setOpened(undefined);
      setSaid({ text: deliveredText(delivery), isFinal: delivery.state === 'decided' });
      if (delivery.state === 'decided') setOutcome(delivery.outcome);
    } catch (error) {
      setFault(faultOf(error));
    }
    changed();
  };
  const desk: Desk = {
    decide: (decision) => send('decisions', { argsHash, runId, ...decision }),
    answer: (value) => send('answers', { value, runId }),
    open(form) {
      setFault('');
      setOpened(form);
    },
    complain: setFault,
  };
  return { desk, opened, fault, said, outcome };
}

/** Whoever is at a page may have no terminal. */
function faultOf(error: unknown): string {
  const isForTerminal = error instanceof ApiProblem && error.hint?.includes('`holdfast ') === true;
  return isForTerminal ? error.message : wordsOf(error);
}

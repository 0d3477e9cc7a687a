/** Doing what somebody wants, and saying how it ended. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { wordsOf } from '../data/api.js';

/** Says `done` when the work is done, else why not; a text that the work gives is said in its place. False: it failed. */
export type Act = (work: () => Promise<unknown>, done?: string) => Promise<boolean>;

export interface Acting {
  readonly said: string;
  readonly fault: string;
  readonly say: (text: string) => void;
  readonly complain: (text: string) => void;
  readonly act: Act;
}

/** `ended` is called after each work, whatever came of it. */
export function useAct(ended: () => void = () => {}): Acting {
  const [said, say] = useState('');
  const [fault, complain] = useState('');
  const act: Act = async (work, done) => {
    complain('');
    say('');
    try {
      const told = await work();
      say(done ?? (typeof told === 'string' ? told : ''));
      return true;
    } catch (error) {
      say('');
      complain(wordsOf(error));
      return false;
    } finally {
      ended();
    }
  };
  return { said, fault, say, complain, act };
}

/** Always there, because screen readers tell only changes of what they know. */
export function Outcome({ said, fault }: Pick<Acting, 'said' | 'fault'>): VNode {
  return (
    <>
      <p class="said" role="status">
        {said}
      </p>
      <p class="fault" role="alert">
        {fault}
      </p>
    </>
  );
}

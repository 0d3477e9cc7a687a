/**
 * The question that is looked at, kept fresh. A run that was reset can ask for something else under the same id:
 * that is another version of the question, and it is said.
 */
import { useRef, useState } from 'preact/hooks';
import { announce } from '../data/announced.js';
import { get, isRefusal, pathOf } from '../data/api.js';
import type { Ask, Grounds } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { words } from '../parts/format.js';

const LOOK_MS = 2_500;
export const CHANGED = 'This question has changed.';
export const DROPPED = 'Your form was about the earlier question and is dropped.';

export interface Version {
  readonly ask: Ask;
  /** 0 for the one that was shown first. */
  readonly number: number;
  /** Somebody had begun to decide on the one before. */
  readonly isDropped: boolean;
}

export interface KnownAsk {
  readonly version?: Version;
  /** Why it cannot be shown. */
  readonly refusal?: unknown;
  readonly soon: () => void;
}

/** `isBegun` says whether somebody has begun to decide on what is shown. */
export function useAsk(askId: string, isBegun: () => boolean): KnownAsk {
  const [version, setVersion] = useState<Version>();
  const [refusal, setRefusal] = useState<unknown>();
  const newest = useRef<Version | undefined>(undefined);
  const { soon } = usePoll(
    async (signal) => {
      const path = pathOf('inbox', askId);
      const ask = await get<Ask>(path, signal).catch((error: unknown) => {
        if (newest.current === undefined && isRefusal(error)) setRefusal(error);
        throw error;
      });
      if (signal.aborted) return;
      const next = nextVersion(newest.current, ask, isBegun);
      newest.current = next;
      setVersion(next);
    },
    { everyMs: LOOK_MS, name: askId },
  );
  return { ...(version !== undefined && { version }), refusal, soon };
}

function nextVersion(before: Version | undefined, ask: Ask, isBegun: () => boolean): Version {
  if (before === undefined) return { ask, number: 0, isDropped: false };
  const { argsHash, openedAt, outcome } = before.ask;
  if (ask.argsHash === argsHash && ask.openedAt === openedAt) {
    if (ask.outcome !== outcome) announce(`This question is ${words(ask.outcome)} now.`);
    return { ...before, ask };
  }
  const isDropped = isBegun();
  announce(isDropped ? `${CHANGED} ${DROPPED}` : CHANGED);
  return { ask, number: before.number + 1, isDropped };
}

/**
 * What a question rests on does not change while it is open; without it the question cannot be judged, so it is
 * asked for until it comes.
 */
export function useGrounds(askId: string, isForMe: boolean): Grounds | undefined {
  const [grounds, setGrounds] = useState<Grounds>();
  const found = useRef(!isForMe);
  usePoll(
    async (signal) => {
      if (found.current) return;
      setGrounds(await get<Grounds>(pathOf('inbox', askId, 'grounds'), signal));
      found.current = true;
    },
    { everyMs: LOOK_MS, name: askId },
  );
  return grounds;
}

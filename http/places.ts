/** Places for open streams: so many in all, and so many for one person. */
import { Problem } from '../console/http/problem.js';
import type { ChatLimits } from './options.js';

export interface Places {
  /** Gives what frees the place. Errors: a Problem when there is none. */
  take(person: string): () => void;
}

export function places({ streams, streamsPerActor }: ChatLimits): Places {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    take(person) {
      const own = taken.get(person) ?? 0;
      if (all >= streams) throw full(503, 'unavailable');
      if (own >= streamsPerActor) throw full(429, 'too_many');
      all += 1;
      taken.set(person, own + 1);
      let isFree = false;
      return () => {
        if (isFree) return;
        isFree = true;
        all -= 1;
        const left = (taken.get(person) ?? 1) - 1;
        if (left > 0) taken.set(person, left);
        else taken.delete(person);
      };
    },
  };
}

function full(status: 429 | 503, code: string): Problem {
  const detail = 'Too many streams are open. Close one, or try again in a moment.';
  return new Problem(status, { code, detail, headers: { 'retry-after': '5' } });
}

/** Sending what counts once. */
import { useRef } from 'preact/hooks';
import { isRefusal, newKey, post } from './api.js';

export type Post = <T>(path: string, body: object) => Promise<T>;

/**
 * Requests of one wording share a key, as long as nobody knows what became of them: pressing again after a lost answer
 * is no second request. With `again` the same words are another request once the first has arrived.
 */
export function usePosting({ again = false } = {}): Post {
  const keys = useRef(new Map<string, string>());
  return async <T>(path: string, body: object): Promise<T> => {
    const wording = JSON.stringify([path, body]);
    const key = keys.current.get(wording) ?? newKey();
    keys.current.set(wording, key);
    try {
      const answer = await post<T>(path, body, key);
      if (again) keys.current.delete(wording);
      return answer;
    } catch (error) {
      if (isRefusal(error) && error.status !== 429) keys.current.delete(wording);
      throw error;
    }
  };
}

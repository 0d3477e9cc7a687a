/** The user's side of one run, as messages. */
import type { UserPrompt } from '../../client/index.js';
import type { LineSource } from './line-source.js';

/** The lines of the conversation for one run; ended, it takes no line that nobody would hear. */
export function talker(
  first: string | undefined,
  nextLine: () => Promise<string | undefined>,
  lines: LineSource,
): AsyncIterator<UserPrompt> {
  let begun = first === undefined;
  let over = false;
  return {
    async next() {
      if (!begun) {
        begun = true;
        return { done: false, value: first! };
      }
      const line = await nextLine();
      if (line === undefined) return { done: true, value: undefined };
      if (!over) return { done: false, value: line };
      lines.unread(line);
      return { done: true, value: undefined };
    },
    async return() {
      over = true;
      return { done: true, value: undefined };
    },
  };
}

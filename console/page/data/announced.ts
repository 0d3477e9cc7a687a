/** What screen readers are told, once. */
import { watched } from './watched.js';

/** Another object for each announcement: what is said twice is heard twice. */
export const announcement = watched({ text: '', number: 0 });

export function announce(text: string): void {
  announcement.set({ text, number: announcement.get().number + 1 });
}

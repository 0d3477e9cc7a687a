/** What screen readers are told, once. */
import { watched } from './watched.js';

export const announcement = watched('');

export function announce(text: string): void {
  announcement.set(text);
}

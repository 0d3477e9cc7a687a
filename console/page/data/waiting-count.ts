/** How many questions wait, as the inbox knows it; undefined while nobody counts. */
import { watched } from './watched.js';

export const waitingCount = watched<number | undefined>(undefined);

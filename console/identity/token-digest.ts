import { createHash } from 'node:crypto';

/** Of equal length whatever the token's, so that comparing takes the same time. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

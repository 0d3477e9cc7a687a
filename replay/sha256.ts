/** The same digest as the core's, by Node: bundles are large, and no workflow reads them. */
import { createHash } from 'node:crypto';

/** sha256 of a text's UTF-8 bytes, as 64 hex digits. */
export function sha256OfText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

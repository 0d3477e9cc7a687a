/** The same digest as the core's, by Node: bundles are large, and no workflow reads them. */
import { hash } from 'node:crypto';

/** sha256 of a text's UTF-8 bytes: as 64 hex digits, or a letter for each byte. */
export function sha256OfText(text: string, form: 'hex' | 'binary' = 'hex'): string {
  return hash('sha256', text, form);
}

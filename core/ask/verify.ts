/**
 * Whether a decision proves who made it (design §9). `requireProof` is frozen at the start; until the
 * approval desk signs decisions it is off, and a signature that is there is kept, not judged.
 */
import type { Settings } from '../settings.js';
import type { Decision } from './ask.js';

export function isProven(_decision: Decision, settings: Settings): boolean {
  return !settings.requireProof;
}

/** Whether this sandbox is the strict replayer's, and no serving worker's. */
import { REPLAY_MARK } from '../core/state/replay-mark.js';

export function isReplayer(): boolean {
  return Reflect.get(globalThis, REPLAY_MARK) === true;
}

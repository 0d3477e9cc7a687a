/** What a command says while it waits for a run or goal that is started and not open yet. */
import type { HeldUp } from '../../client/index.js';
import type { Output } from './output.js';

/** The same reason is told again after this long. */
const AGAIN_MS = 60_000;

/** Told on standard error: at once, when the reason changes, and then once a minute. */
export function heldUpRemarks(output: Pick<Output, 'remark'>): (heldUp: HeldUp) => void {
  let told: HeldUp | undefined;
  return (heldUp) => {
    const isKnown = told?.heldBy === heldUp.heldBy;
    if (told !== undefined && isKnown && heldUp.waitedMs - told.waitedMs < AGAIN_MS) return;
    told = heldUp;
    output.remark(`${heldUp.message} ${heldUp.hint} The command waits on.`);
  };
}

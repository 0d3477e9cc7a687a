/** From times to places on the bar of a run. Pure. */
import type { Step } from './story.js';

/** Pauses beyond this many ms are drawn shorter, so that a night does not hide the minutes around it. */
const PAUSE_MS = 8_000;

/** The places are between 0 and 1; `end` is the time of what is under way, in ms since epoch. */
export function scaleOf(steps: readonly Step[], end: number): (at: number) => number {
  const times = steps.flatMap(({ from, to }) => [from, to ?? end]);
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const places = new Map<number, number>();
  let place = 0;
  let before = sorted[0] ?? 0;
  for (const time of sorted) {
    const gap = time - before;
    place += gap <= PAUSE_MS ? gap : PAUSE_MS * (1 + Math.log10(gap / PAUSE_MS));
    places.set(time, place);
    before = time;
  }
  const whole = Math.max(1, place);
  return (at) => (places.get(at) ?? 0) / whole;
}

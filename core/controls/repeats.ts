/**
 * The same-effect guard: what was done for a business object is not done again unknowingly.
 * Invariants: an approval lets exactly the call pass that was asked about, and only beside the effects that
 * its card showed; an effect that nobody saw asks again.
 */

/** What an effect is about: `[orderId]`, for example. */
export type Identity = readonly string[];

/** An effect that took place, or may have, as people see it. */
export interface EarlierEffect {
  readonly key: string;
  readonly runId: string;
  readonly tool: string;
  /** When it was claimed, in ms since epoch. */
  readonly at: number;
  readonly state: 'under_way' | 'done' | 'in_doubt';
  readonly amount?: number;
  readonly approvedBy: readonly string[];
}

/** What a card shows of them; the newest come first. */
export interface Repeats {
  readonly identity: Identity;
  readonly earlier: readonly EarlierEffect[];
  /** There are more than these. */
  readonly more?: true;
}

/** Effects that one card shows. */
export const EARLIER_MAX = 5;
/** Questions about one call, each because of an effect that was new; then it is refused. */
export const REPEAT_ASKS_MAX = 5;
export const DEFAULT_IDENTITY_WINDOW_MS = 30 * 86_400_000;

/** The earlier effects, if there is one that whoever approved has not seen. */
export function unseenRepeats(repeats: Repeats, seen: readonly string[]): Repeats | undefined {
  return repeats.earlier.some(({ key }) => !seen.includes(key)) ? repeats : undefined;
}

/** The question in words; the card shows the effects besides. `tellsDoubt`: not all of them have to have happened. */
export function repeatQuestion(tool: string, repeats: Repeats, tellsDoubt: boolean): string {
  const { identity, earlier, more } = repeats;
  const what = identity.join(', ').slice(0, 200);
  const times = more === true ? `more than ${earlier.length} times` : timesWord(earlier.length);
  const newest = earlier[0];
  const last = newest === undefined ? '' : `, last by ${newest.runId}`;
  const isDone = !tellsDoubt || earlier.every(({ state }) => state === 'done');
  const was = isDone ? 'was already done' : 'may already have been done';
  return `${tool} ${was} for ${what}: ${times}${last}. Shall it be done once more?`;
}

function timesWord(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

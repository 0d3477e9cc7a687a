/**
 * Ids of runs: `run_<ulid>`, or what the caller gives. They become workflow ids and parts of keys, so their
 * alphabet is small.
 */
import { randomBytes } from 'node:crypto';
import { isReachable } from '../../core/messages/run-id.js';
import { isChildId } from '../../pure/goal/child-start.js';
import { HoldfastError } from '../../core/state/errors.js';

/** Crockford's base 32: no letter that looks like a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;
const RUN_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** A new run id; ids sort by the time of their making. */
export function newRunId(at: number = Date.now(), random: Uint8Array = randomBytes(RANDOM_CHARS)) {
  return `run_${ulid(at, random)}`;
}

/** 26 characters: 48 bits of time, then 5 bits of each of 16 random bytes. */
export function ulid(at: number, random: Uint8Array): string {
  if (!Number.isSafeInteger(at) || at < 0 || at >= 2 ** 48) {
    throw new RangeError('the time of an id must be ms since epoch');
  }
  if (random.length < RANDOM_CHARS) throw new RangeError('an id needs 16 random bytes');
  let time = '';
  for (let rest = at, place = 0; place < TIME_CHARS; place += 1, rest = Math.floor(rest / 32)) {
    time = ALPHABET.charAt(rest % 32) + time;
  }
  const tail = Array.from(random.subarray(0, RANDOM_CHARS), (byte) => ALPHABET.charAt(byte % 32));
  return time + tail.join('');
}

export function isRunId(text: string): boolean {
  return RUN_ID.test(text) && isReachable(text);
}

/** The id itself; throws InvalidTask for one that cannot be used. */
export function checkRunId(runId: unknown): string {
  if (typeof runId === 'string' && isRunId(runId)) {
    if (!isChildId(runId)) return runId;
    throw new HoldfastError('InvalidTask', `The run id ${runId} cannot be used.`, {
      hint: 'Ids that end with :c, :a or :h and a number are those of cycles of goals, of sub-agents and of runs that a handoff has started.',
    });
  }
  const shown = typeof runId === 'string' ? JSON.stringify(runId.slice(0, 140)) : typeof runId;
  throw new HoldfastError('InvalidTask', `The run id ${shown} cannot be used.`, {
    hint: 'Use 1 to 128 of the characters A-Z a-z 0-9 . _ : - , but neither . nor .. alone; or give none to get a new one.',
  });
}

/** Messages from outside that came with half of a surrogate pair are refused like any other that cannot be read. */
import { ownValue } from '../json/json.js';
import { isRecord, isWellFormed, type Parsed } from '../json/shape.js';
import type { Run } from '../state/run.js';
import { FIRST_RULES, follows } from '../step/changes.js';

/**
 * What was parsed, unless a text of it came with half of a surrogate pair: nobody could store it as it is. Before a run
 * knows its rules, the code that decided its first step says whether it refuses that.
 */
export function wholeTexts<T>(
  { rules, begunWith = FIRST_RULES, frozen }: Pick<Run, 'rules' | 'begunWith' | 'frozen'>,
  raw: unknown,
  parsed: Parsed<T>,
): Parsed<T> {
  const known = { rules: frozen === undefined ? begunWith : rules };
  if (!parsed.ok || !follows(known, 'wellFormedInputs')) return parsed;
  // As it came: what was cut to its limit may end between the halves.
  const texts =
    isRecord(raw) && isRecord(parsed.value)
      ? Object.keys(parsed.value).map((name) => ownValue(raw, name))
      : raw;
  return isWellFormed(texts)
    ? parsed
    : { ok: false, reason: 'a text has half of a surrogate pair' };
}

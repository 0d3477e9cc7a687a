/** Durations on the command line: `24h`, `90s`, `500ms`, or plain milliseconds. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Milliseconds, or undefined for what is no duration. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = UNITS.get(match?.[2]?.toLowerCase() ?? '?');
  return match?.[1] === undefined || unit === undefined
    ? undefined
    : Math.round(Number(match[1]) * unit);
}

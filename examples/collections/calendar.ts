/** Days of the ledger, as `2026-01-31`, in the time zone of the company. */
export const TIME_ZONE = 'Europe/Berlin';
const DAY_MS = 86_400_000;

const FORMAT = new Intl.DateTimeFormat('en-CA', { timeZone: TIME_ZONE, dateStyle: 'short' });

/** `at`: ms since epoch. */
export function dayOf(at: number): string {
  return FORMAT.format(at);
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** How many days `later` is behind `earlier`. */
export function daysBetween(earlier: string, later: string): number {
  return Math.round((Date.parse(later) - Date.parse(earlier)) / DAY_MS);
}

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'short' });
const HOUR = new Intl.DateTimeFormat('en-GB', { timeZone: TIME_ZONE, hour: 'numeric' });

/** Eight o'clock of the day, or of the Monday behind it, with its offset. */
export function morningOf(day: string): string {
  const name = WEEKDAY.format(Date.parse(day));
  const workday = name === 'Sat' ? addDays(day, 2) : name === 'Sun' ? addDays(day, 1) : day;
  const winter = `${workday}T08:00:00+01:00`;
  return Number(HOUR.format(Date.parse(winter))) === 8 ? winter : `${workday}T08:00:00+02:00`;
}

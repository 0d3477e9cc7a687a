/** When the cycles of a goal begin, as somebody writes it into a form. Pure. */
export type PaceKind = 'continuous' | 'every' | 'cron' | 'when_woken';

export const PACE_KINDS: readonly (readonly [kind: PaceKind, words: string])[] = [
  ['continuous', 'one after the other'],
  ['every', 'every so often'],
  ['cron', 'at times of a cron line'],
  ['when_woken', 'when somebody wakes the goal'],
];

const MINUTE_MS = 60_000;
export const PACE_UNITS = [
  ['minutes', MINUTE_MS],
  ['hours', 60 * MINUTE_MS],
  ['days', 1_440 * MINUTE_MS],
] as const;
export type PaceUnit = (typeof PACE_UNITS)[number][0];

export interface PaceDraft {
  readonly kind: PaceKind;
  readonly every: string;
  readonly unit: PaceUnit;
  readonly cron: string;
  readonly timezone: string;
}

export type Pace =
  | 'continuous'
  | 'when_woken'
  | { readonly everyMs: number }
  | { readonly cron: string; readonly timezone: string };

export type PaceRead =
  | { readonly ok: true; readonly pace: Pace }
  | {
      readonly ok: false;
      readonly fault: string;
      readonly field: 'every' | 'cron' | 'timezone';
    };

/** `zone`: of the person, where the pace names none. */
export function paceDraftOf(pace: unknown, zone: string): PaceDraft {
  const none = { every: '1', unit: 'hours', cron: '', timezone: zone } as const;
  if (pace === 'continuous' || pace === 'when_woken') return { ...none, kind: pace };
  const { everyMs, cron, timezone } = (pace ?? {}) as {
    readonly everyMs?: unknown;
    readonly cron?: unknown;
    readonly timezone?: unknown;
  };
  if (typeof everyMs === 'number') {
    const [unit, size] =
      PACE_UNITS.findLast(([, ms]) => everyMs >= ms && everyMs % ms === 0) ?? PACE_UNITS[0];
    return { ...none, kind: 'every', every: String(everyMs / size), unit };
  }
  if (typeof cron !== 'string') return { ...none, kind: 'continuous' };
  return {
    ...none,
    kind: 'cron',
    cron,
    timezone: typeof timezone === 'string' ? timezone : zone,
  };
}

const YEAR_MS = 366 * 86_400_000;
const CRON_FIELDS = 5;

/** What is wrong with it as far as a page knows calendars; the goal's server looks at the rest. */
export function readPace(draft: PaceDraft): PaceRead {
  if (draft.kind === 'continuous' || draft.kind === 'when_woken') {
    return { ok: true, pace: draft.kind };
  }
  return draft.kind === 'every' ? readEvery(draft) : readCron(draft);
}

function readEvery({ every, unit }: PaceDraft): PaceRead {
  const count = every.trim() === '' ? NaN : Number(every.trim().replace(',', '.'));
  const size = PACE_UNITS.find(([name]) => name === unit)?.[1] ?? MINUTE_MS;
  const everyMs = Math.round(count * size);
  if (everyMs >= 1 && everyMs <= YEAR_MS) return { ok: true, pace: { everyMs } };
  const fault = `How many ${unit} lie between two cycles? A number above 0, and a year at most.`;
  return { ok: false, fault, field: 'every' };
}

function readCron({ cron, timezone }: PaceDraft): PaceRead {
  const line = cron.trim().replace(/\s+/g, ' ');
  const fields = line === '' ? 0 : line.split(' ').length;
  if (fields !== CRON_FIELDS) {
    const fault = `A cron line has five fields (minute, hour, day of month, month, day of week), such as 0 9 * * 1-5; this one has ${fields}.`;
    return { ok: false, fault, field: 'cron' };
  }
  const zone = timezone.trim();
  if (!isTimezone(zone)) {
    const fault = `“${zone.slice(0, 64)}” is no time zone. Write one such as Europe/Zurich or UTC.`;
    return { ok: false, fault, field: 'timezone' };
  }
  return { ok: true, pace: { cron: line, timezone: zone } };
}

function isTimezone(zone: string): boolean {
  // Offsets are no zones: they know nothing of daylight saving.
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

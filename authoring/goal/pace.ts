/** Cron lines and time zones as goals and schedules take them. */
import { Cron } from 'croner';
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import type { Pace } from '../../core/state/goal/definition.js';
import { closed, duration, wrongField } from './field.js';
import { parseFields } from '../parse-fields.js';
import { isRecord } from '../../pure/options.js';

/** Names, ranges, lists and steps; none of the extensions that another reader of the line may not know. */
const LINE = /^[0-9A-Za-z*,/-]+( [0-9A-Za-z*,/-]+){4}$/;
const CHARS_MAX = 200;
const FIELDS = 5;
const FIVE_FIELDS =
  "it must be a cron line of five fields (minute, hour, day of month, month, day of week), such as '0 9 * * 1-5'";
/** A moment to count from; whether there is a next time depends on the line alone. */
const FROM = new Date('2024-01-01T00:00:00Z');

export const cron = z.string(FIVE_FIELDS).transform((value, context) => {
  const line = value.trim().replace(/\s+/g, ' ');
  const defect = cronDefect(line);
  if (defect === undefined) return line;
  context.issues.push({ code: 'custom', input: value, message: defect });
  return z.NEVER;
});

export const timezone = z
  .string("it must be an IANA time zone, such as 'Europe/Zurich' or 'UTC'")
  .refine(isTimezone, "it must be an IANA time zone, such as 'Europe/Zurich' or 'UTC'");

const PACE =
  "it must be 'continuous', 'when_woken', {everyMs}, or {cron, timezone} such as {cron: '0 9 * * 1-5', timezone: 'Europe/Zurich'}";
export const pace = z.unknown().transform((value, context): unknown => {
  if (value === 'continuous' || value === 'when_woken') return value;
  const shape =
    isRecord(value) && Object.hasOwn(value, 'everyMs')
      ? closed<Extract<Pace, { everyMs: number }>>({ everyMs: duration })
      : isRecord(value) && Object.hasOwn(value, 'cron')
        ? closed<Extract<Pace, { cron: string }>>({ cron, timezone })
        : z.never(PACE);
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    context.issues.push({ code: 'custom', input: value, path: issue.path, message: issue.message });
  }
  return z.NEVER;
});

/** Errors: InvalidTask that names the field. */
export function checkedPace(value: unknown, subject = 'The goal'): Pace {
  const result = parseFields(pace, value);
  if (result.success) return result.data as Pace;
  const issue = result.error.issues[0];
  const field = ['pace', ...(issue?.path ?? [])].join('.');
  const { code, message, details } = wrongField(subject, field, issue?.message ?? 'not valid');
  throw new HoldfastError(code, message, { hint: RIGHT, ...(details && { details }) });
}

const RIGHT =
  "A right one is {cron: '0 9 * * 1-5', timezone: 'Europe/Zurich'} (at 09:00 from Monday to Friday), or {everyMs: 21600000} (every 6 hours).";

function cronDefect(line: string): string | undefined {
  const fields = line === '' ? 0 : line.split(' ').length;
  if (fields !== FIELDS) return `${FIVE_FIELDS}; this one has ${fields}`;
  if (line.length > CHARS_MAX || !LINE.test(line) || /L/.test(line.replace(/JUL/gi, ''))) {
    return `${FIVE_FIELDS}, written with digits, names, * , - and / alone`;
  }
  try {
    const next = new Cron(line, { timezone: 'UTC', paused: true }).nextRun(FROM);
    return next === null ? 'no day ever comes that it names' : undefined;
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '';
    return `${FIVE_FIELDS}: ${said}`;
  }
}

function isTimezone(value: string): boolean {
  // Offsets are no zones: they know nothing of daylight saving.
  if (!/^[A-Za-z]/.test(value) || value.length > 64) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}

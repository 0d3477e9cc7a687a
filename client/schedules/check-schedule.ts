/**
 * A schedule as people want it, checked before anything is sent.
 * Invariants: Temporal appends the time of a tick to the schedule's id, and that is the id of the run or goal which it
 * starts: a run id, used once, also when the tick is backfilled; nothing in a schedule gives two of its runs the same keys.
 */
import { Cron } from 'croner';
import type { KnownFields } from '../../authoring/known-fields.js';
import { checkedPace } from '../../authoring/goal/pace.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { GoalStart } from '../../core/state/goal/definition.js';
import type { StartInput } from '../../core/state/task.js';
import { checkNames, type Parts } from '../closed-options.js';
import {
  checkGoal,
  definitionDigest,
  GOAL_PARTS,
  GOAL_REQUEST,
  type GoalRequest,
} from '../goals/check-goal.js';
import { DEFINITION_MEMO } from '../goals/known-goal.js';
import { checkStart, REQUEST, type StartRequest } from '../runs/check-start.js';
import { isRunId } from '../runs/run-id.js';

/** With `-2026-11-23T09:00:00Z` it is the id of a goal: at most 96 characters. */
export const SCHEDULE_ID_CHARS_MAX = 75;
/** Ticks that one backfill takes up, at most. */
export const BACKFILL_TICKS_MAX = 1_000;
const CATCHUP_MS = 3_600_000;
const NOTE_CHARS_MAX = 500;
const YEAR_MS = 366 * 86_400_000;

export const OVERLAPS = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow_all'] as const;
/**
 * What happens to a tick while what an earlier one started is still open: left out, kept (one, or all), or it begins
 * beside the other, which goes on or is cancelled. Nothing is ever terminated: a run tells how it ended.
 */
export type Overlap = (typeof OVERLAPS)[number];

export type Ticks =
  | { readonly cron: string; readonly timezone: string }
  /** Whole seconds. */
  | { readonly everyMs: number };

/** A run or a goal that begins by the clock. */
export interface ScheduleOptions {
  readonly scheduleId: string;
  readonly ticks: Ticks;
  /** Either a run of an agent … */
  readonly run?: StartRequest;
  /** … or a goal. */
  readonly goal?: GoalRequest;
  /** Default 'skip'. */
  readonly overlap?: Overlap;
  /** How late a tick may be taken up, when the server was away; default an hour. */
  readonly catchupMs?: number;
  readonly paused?: boolean;
  readonly note?: string;
}

const OPTIONS: KnownFields<ScheduleOptions> = {
  scheduleId: true,
  ticks: true,
  run: true,
  goal: true,
  overlap: true,
  catchupMs: true,
  paused: true,
  note: true,
};

/** The tenant is the client's. */
function partsOf(options: unknown): Parts {
  const { goal } = Object(options) as { readonly goal?: unknown };
  const [part, request] = goal === undefined ? ['run', REQUEST] : ['goal', GOAL_REQUEST];
  const fields = Object.keys(request).filter((field) => field !== 'tenant');
  return { 'ticks: { ? }': ['cron', 'timezone', 'everyMs'], [`${part}: { ? }`]: fields };
}

export interface CheckedSchedule {
  readonly scheduleId: string;
  readonly ticks: Ticks;
  readonly starts: 'run' | 'goal';
  readonly input: StartInput | GoalStart;
  readonly agent: string;
  /** What is wanted, in any length. */
  readonly summary: string;
  readonly memo?: Readonly<Record<string, string>>;
  readonly overlap: Overlap;
  readonly catchupMs: number;
  readonly paused: boolean;
  readonly note?: string;
}

/** Errors: InvalidTask that names the field. */
export function checkSchedule(options: ScheduleOptions, tenant: string): CheckedSchedule {
  checkNames(options, OPTIONS, partsOf(options));
  const { overlap = 'skip', catchupMs = CATCHUP_MS, paused = false, note } = options;
  const scheduleId = checkScheduleId(options.scheduleId);
  if (!OVERLAPS.includes(overlap)) {
    throw wrong('overlap', `it must be one of ${OVERLAPS.join(', ')}`);
  }
  if (!Number.isInteger(catchupMs) || catchupMs < 10_000 || catchupMs > YEAR_MS) {
    throw wrong('catchupMs', 'it must be whole milliseconds from 10 s to a year');
  }
  const noted = note === undefined ? {} : { note: checkNote(note) };
  const ticks = checkTicks(options.ticks);
  return { scheduleId, ticks, overlap, catchupMs, paused, ...noted, ...started(options, tenant) };
}

type Started = Pick<CheckedSchedule, 'starts' | 'input' | 'agent' | 'summary' | 'memo'>;

function started({ run, goal }: ScheduleOptions, tenant: string): Started {
  if ((run === undefined) === (goal === undefined)) {
    throw wrong('run', 'a schedule starts either a run or a goal; give one of the two');
  }
  if (goal !== undefined) {
    checkNames(goal, GOAL_REQUEST, GOAL_PARTS);
    const input = checkGoal({ ...goal, tenant });
    const memo = { [DEFINITION_MEMO]: definitionDigest(input.goal, input.from) };
    const { agent, objective: summary } = input.goal;
    return { starts: 'goal', input, agent, summary, memo };
  }
  checkNames(run!, REQUEST);
  const input = checkStart({ ...run!, tenant });
  if (input.task.taskId !== undefined) {
    throw wrong('run.task.taskId', 'each run of a schedule has its own, which is its run id');
  }
  return { starts: 'run', input, agent: input.agent, summary: input.task.goal };
}

export function checkScheduleId(id: unknown): string {
  if (typeof id === 'string' && id.length <= SCHEDULE_ID_CHARS_MAX && isRunId(id)) return id;
  const shown = typeof id === 'string' ? JSON.stringify(id.slice(0, 140)) : typeof id;
  throw new HoldfastError('InvalidTask', `The schedule id ${shown} cannot be used.`, {
    hint: `Use 1 to ${SCHEDULE_ID_CHARS_MAX} of the characters A-Z a-z 0-9 . _ : - , but neither . nor .. alone.`,
  });
}

export function checkNote(note: unknown): string {
  if (typeof note === 'string' && note.length <= NOTE_CHARS_MAX) return note;
  throw wrong('note', `it must be a text of at most ${NOTE_CHARS_MAX} characters`);
}

/** Errors: InvalidTask that names the field in `details.path`. */
export function checkTicks(ticks: unknown): Ticks {
  if (typeof ticks !== 'object' || ticks === null) {
    throw wrong('ticks', 'it must be {cron, timezone} or {everyMs}');
  }
  const checked = checkedPace(ticks, 'The schedule');
  if (typeof checked === 'string') throw wrong('ticks', 'it must be {cron, timezone} or {everyMs}');
  if ('everyMs' in checked) {
    if (checked.everyMs % 1_000 === 0) return checked;
    throw wrong('ticks.everyMs', 'it must be whole seconds');
  }
  // Temporal wants both to fit, cron lines elsewhere one of them: neither reader is to be surprised.
  const [, , day, , weekday] = checked.cron.split(' ');
  if (day !== '*' && weekday !== '*') {
    throw wrong('ticks.cron', 'it names days of the month and of the week; name one of the two');
  }
  return checked;
}

export interface Span {
  /** ms since epoch; both ends count. */
  readonly from: number;
  readonly to: number;
}

/** Errors: InvalidTask for a span that is none, lies ahead or has too many ticks. */
export function checkSpan(ticks: Ticks, { from, to }: Span, now: number): void {
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || from > to) {
    throw wrong('from', 'it must be a time before that of `to`');
  }
  if (to > now) throw wrong('to', 'it lies ahead; a schedule takes up those ticks by itself');
  if (ticksIn(ticks, { from, to }) <= BACKFILL_TICKS_MAX) return;
  throw wrong('from', `the span has more than ${BACKFILL_TICKS_MAX} ticks; backfill it in parts`);
}

/** Counts to just above the most. */
function ticksIn(ticks: Ticks, { from, to }: Span): number {
  if ('everyMs' in ticks) return Math.floor((to - from) / ticks.everyMs) + 1;
  const line = new Cron(ticks.cron, { timezone: ticks.timezone, paused: true });
  let count = 0;
  for (let at = new Date(from - 1); count <= BACKFILL_TICKS_MAX; count += 1) {
    const next = line.nextRun(at);
    if (next === null || next.getTime() > to) break;
    at = next;
  }
  return count;
}

function wrong(field: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The schedule: ${field} cannot be used: ${why}.`, {
    hint: `Correct ${field} and try again.`,
    details: { path: field },
  });
}

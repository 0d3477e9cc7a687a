/** Whether what was told with a death in it came to the same as what was told without one. */
import { agree } from '../../../evaluation/agree.js';
import type { Observation } from '../../../evaluation/engine.js';
import type { RunEvent } from '../../../core/state/event.js';
import type { RunResult } from '../../../core/state/result.js';
import type { Point } from './kill-points.js';
import type { Killed, Played } from './killed-stage.js';

const SHOWN_CHARS = 600;
const AROUND_CHARS = 100;

export function problemsOf(whole: Played, run: Killed): readonly string[] {
  const { violations } = run.observation;
  const lost = run.askedAgain || lostUnasked(run) ? [...ATTEMPTS, ...MONEY] : ATTEMPTS;
  const differences = agree(without(lost, whole.observation), without(lost, run.observation));
  return [
    ...(run.reached || mayBeMissed(run.point) ? [] : ['it never came to this point']),
    ...violations,
    ...(differences.length > 0 ? [told(differences).slice(0, SHOWN_CHARS)] : []),
    ...otherwiseAsked(whole.asked, run.asked),
    ...(told(run.effects) === told(whole.effects) ? [] : [`effects ${told(run.effects)}`]),
    ...(run.askedAgain && bringsReply(run.point) ? ['a finished reply was asked for again'] : []),
    ...(costOf(run) < costOf(whole) ? [`it cost ${costOf(run)}, not ${costOf(whole)}`] : []),
    ...(costOf(run) === run.attemptedMicroUsd
      ? []
      : [`it cost ${costOf(run)}, its attempts ${run.attemptedMicroUsd}`]),
  ];
}

/** An attempt was written down, and its worker died before the request had left. */
function lostUnasked({ observation: { events } }: Played): boolean {
  return events.some(({ type }) => type === 'retry');
}

function otherwiseAsked(whole: readonly string[], asked: readonly string[]): readonly string[] {
  const place = asked.findIndex((body, index) => body !== whole[index]);
  if (place < 0 && asked.length === whole.length) return [];
  const [body = '', wanted = ''] = [asked[place], whole[place]];
  const from = body.split('').findIndex((char, index) => char !== wanted[index]);
  const shown = body.slice(Math.max(0, from - AROUND_CHARS), from + AROUND_CHARS);
  return [`question ${place} of ${asked.length}, ${whole.length} without a death: ${shown}`];
}

/** What tells of attempts that died with the worker, not of the run. */
const ATTEMPTS = ['attempts', 'toolAttempts'];
/** An attempt that nobody knows the end of is paid for; what is said of money is longer or shorter. */
const MONEY = ['usage', 'costMicroUsd', 'within_budget', 'briefTokens'];

function without(fields: readonly string[], observation: Observation): Observation {
  const events = begunOnce(observation.events);
  const { goal } = observation;
  const tree = goal && { ...goal, tree: begunOnce(goal.tree) };
  const kept = (key: string, value: unknown): unknown => {
    if (key === 'trace') return { ...(value as RunResult['trace']), events: events.length };
    return fields.includes(key) ? undefined : value;
  };
  const seen = { ...observation, events, ...(tree && { goal: tree }) };
  return JSON.parse(JSON.stringify(seen, kept)) as Observation;
}

/**
 * Without the beginnings of further attempts, and without how their loss was found out: a payment that was lost, and
 * had not happened, is started once more under its key; a request that was lost is made again. Who was away for as long
 * as a goal wanted to sleep does not sleep.
 */
function begunOnce(events: readonly RunEvent[]): readonly RunEvent[] {
  const started = new Set<string>();
  return events.filter((event) => {
    if (PASSING.includes(event.type)) return false;
    if (event.type !== 'tool_started') return true;
    const again = started.has(event.key);
    started.add(event.key);
    return !again;
  });
}

const PASSING: readonly RunEvent['type'][] = [
  'retry',
  'tool_reconciled',
  'goal_sleeping',
  'goal_woken',
];

/** What a workflow is told stands in one task or in two: the last ones may be missing. */
function mayBeMissed(point: Point): boolean {
  return point.kind === 'message' && point.message.about === '';
}

/** The reply is there, and the workflow has not heard of it. */
function bringsReply(point: Point): boolean {
  if (point.kind === 'inside') return false;
  const { about, name } = point.message;
  return name.startsWith('RespondActivity') && /call_model|compact|ask_judge/.test(about);
}

function costOf({ observation }: Played): number {
  return observation.result?.costMicroUsd ?? 0;
}

export function named(point: Point): string {
  if (point.kind === 'inside') return point.what;
  const { cycle, number, name, about, nth } = point.message;
  return `message ${number} (${name}${cycle} ${about} ${nth}) ${point.fate}`;
}

function told(what: unknown): string {
  return JSON.stringify(what);
}

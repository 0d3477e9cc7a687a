/**
 * What was said to a recorded goal and to its cycles, and at which moment of the case it is said again.
 * Invariant: a moment of a goal is one that both engines know: a checkpoint, the start of a cycle, a sleep, a question, or
 * what a cycle was at.
 */
import { isRecord } from '../../core/json/shape.js';
import type { Decision } from '../../core/state/ask.js';
import type { RunEvent } from '../../core/state/event.js';
import type { GoalMessage } from '../../core/state/goal/message.js';
import { timeOf } from '../../recording/history.js';
import type { FixtureDocument } from '../format/document.js';
import type { WrittenAction, WrittenPattern } from '../format/during.js';
import { mergedTree } from '../goal-tree.js';
import { asksIn, decisionOf, isClosing, type AskEvent } from './asked.js';
import type { GoalRecording, RecordedCycle } from './goal-recording.js';
import { goalActions } from './goal-words.js';
import type { Heard } from './heard.js';
import { nearest, whileFlying } from './moment-places.js';
import { heardOnce, momentsOf, type CapturedMoments } from './moments.js';
import type { Recording } from './recording.js';

type Written = NonNullable<FixtureDocument['during']>[number];

export function goalMoments(recording: GoalRecording): CapturedMoments {
  const own = ownMoments(recording);
  const ofCycles = recording.cycles.map(cycleMoments);
  return {
    during: [...own.during, ...ofCycles.flatMap(({ during }) => during)],
    leftOut: [...own.leftOut, ...ofCycles.flatMap(({ leftOut }) => leftOut)],
  };
}

/** The goal interrupts and cancels its cycles by itself, in a case as well. */
function cycleMoments({ n, recording }: RecordedCycle): CapturedMoments {
  if (recording === undefined) return { during: [], leftOut: [] };
  const heard = recording.heard.filter(({ byWorkflow }) => byWorkflow !== true);
  const { during, leftOut } = momentsOf({ root: { ...recording, heard }, members: [] });
  return {
    during: during.map((moment) => ({
      ...moment,
      on: inCycle(n, moment.on),
      do: moment.do.map((action) => ofCycle(n, action)),
    })),
    leftOut: leftOut.map((one) => `in cycle ${n}: ${one}`),
  };
}

function inCycle(n: number, on: WrittenPattern): WrittenPattern {
  return 'start' in on ? { event: 'cycle_started', cycle: n } : { ...on, cycle: n };
}

function ofCycle(n: number, action: WrittenAction): WrittenAction {
  const { resolveApproval } = action;
  if (resolveApproval === undefined) return action;
  return { resolveApproval: { ...resolveApproval, cycle: n } };
}

function ownMoments(recording: GoalRecording): CapturedMoments {
  const during: Written[] = [];
  const leftOut: string[] = [];
  for (const heard of heardOnce(recording)) {
    const said = saidTo(recording, heard);
    if (typeof said === 'string') leftOut.push(said);
    if (typeof said !== 'object' || said.actions.length === 0) continue;
    const on = patternOf(recording, heard, said.ask);
    if (on === undefined) leftOut.push('a word that came when the goal had ended');
    else during.push({ on, do: [...said.actions] });
  }
  return { during, leftOut };
}

interface Said {
  readonly actions: readonly WrittenAction[];
  /** The question that it answers. */
  readonly ask?: AskEvent;
}

/** A text: why it is left out. Undefined: it is nothing that a person said. */
function saidTo(recording: GoalRecording, { name, value }: Heard): Said | string | undefined {
  switch (name) {
    case 'childEnded':
    case 'nextSegment':
      return undefined;
    case 'cancel':
      return { actions: [{ cancel: true }] };
    case 'goalMessage':
    case 'tellGoal':
      return isRecord(value)
        ? goalActions(recording, value as unknown as GoalMessage)
        : 'a message without a form';
    case 'decide':
    case 'resolveApproval':
      return decided(recording, value as unknown as Decision);
    default:
      return `the signal ${name.slice(0, 100)}, which goals do not know`;
  }
}

function decided({ bundle, terms }: GoalRecording, decision: Decision): Said | string {
  const by = String(decision.by).slice(0, 100);
  const ask = asksIn(bundle.events).find(({ askId }) => askId === decision.askId);
  if (ask === undefined) return `a decision of ${by} about a question that was never asked`;
  if (Number(decision.decidedAt) > ask.expiresAt) return `a decision of ${by} that came too late`;
  const heeded = bundle.events.some(
    (event) => isClosing(event) && event.askId === ask.askId && JSON.stringify(event).includes(by),
  );
  if (terms.requireProof && !heeded) return { actions: [] };
  const written = { ...decisionOf(decision, ask), goal: true as const };
  return { actions: [{ resolveApproval: written }], ask };
}

/** Events of a goal at which both engines can say something. */
const SEAMS: readonly RunEvent['type'][] = [
  'cycle_started',
  'cycle_ended',
  'check_finished',
  'progress_noted',
  'goal_review',
  'checkpoint_saved',
  'goal_sleeping',
  'approval_requested',
  'input_request',
];

/** Undefined: the goal had ended. */
function patternOf(
  recording: GoalRecording,
  { takenAt }: Heard,
  answered: AskEvent | undefined,
): WrittenPattern | undefined {
  const { events } = recording.bundle;
  if (answered !== undefined && isOpenAt(answered, takenAt, events))
    return nthOf(recording, answered);
  if (events.some(({ type, stamp }) => type === 'goal_result' && stamp.at < takenAt))
    return undefined;
  const cycle = recording.cycles.find(({ from, to }) => from <= takenAt && takenAt <= to);
  if (cycle !== undefined) return whileCycling(cycle, takenAt);
  const last = events.findLast(({ type, stamp }) => SEAMS.includes(type) && stamp.at <= takenAt);
  return last === undefined ? { start: true } : nthOf(recording, last);
}

function isOpenAt(ask: AskEvent, at: number, events: readonly RunEvent[]): boolean {
  const closed = events.find((event) => isClosing(event) && event.askId === ask.askId);
  return ask.stamp.at <= at && (closed === undefined || closed.stamp.at >= at);
}

/** The k-th event of its type in the whole tree. */
function nthOf({ bundle, cycles }: GoalRecording, event: RunEvent): WrittenPattern {
  const ofCycles = cycles.flatMap(({ recording }) =>
    recording === undefined ? [] : [[recording.bundle.run.runId, recording.bundle.events] as const],
  );
  const same = mergedTree(bundle.events, new Map(ofCycles)).filter(
    ({ type }) => type === event.type,
  );
  const n =
    same.findIndex(
      ({ stamp }) => stamp.seq === event.stamp.seq && stamp.runId === event.stamp.runId,
    ) + 1;
  return { event: event.type, ...(n > 1 && { n }) } as WrittenPattern;
}

function whileCycling({ n, recording }: RecordedCycle, at: number): WrittenPattern {
  const started: WrittenPattern = { event: 'cycle_started', cycle: n };
  if (recording === undefined) return started;
  const { events } = recording.bundle;
  const flying = flyingAt(recording, at);
  const of = flying && whileFlying(flying, events);
  if (of !== undefined) return inCycle(n, of);
  const asks = asksIn(events);
  const asked = asks.findLast((ask) => isOpenAt(ask, at, events));
  if (asked !== undefined) {
    const place = asks.filter(({ type }) => type === asked.type).indexOf(asked) + 1;
    return { event: asked.type, cycle: n, ...(place > 1 && { n: place }) };
  }
  const place = timesOf(recording).findLastIndex((time) => time <= at);
  return inCycle(n, nearest(recording, { place }));
}

/** What the cycle was at, of all that both engines can stand in. */
function flyingAt(recording: Recording, at: number) {
  const times = timesOf(recording);
  const { activities } = recording;
  return activities.findLast(
    ({ from, to }) => (times[from] ?? 0) <= at && (to === undefined || (times[to] ?? 0) >= at),
  );
}

function timesOf({ bundle }: Recording): readonly number[] {
  return bundle.segments.flatMap(({ events }) => events.map(timeOf));
}

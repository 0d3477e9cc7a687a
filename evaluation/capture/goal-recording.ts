/**
 * A bundle of a goal as what it records: what the goal did and heard itself, and each of its cycles as a recorded run.
 * Invariant: a goal is not read without one of its cycles: nobody knows what the models of that cycle said.
 */
import type { GoalStart } from '../../core/state/goal/definition.js';
import type { InputOf, OutputOf, ActivityKind } from '../../core/state/effect.js';
import { GOAL_TOOLS } from '../../core/state/goal/proposal.js';
import type { GoalTerms } from '../../core/state/goal/terms.js';
import { textAt, timeOf } from '../../recording/history.js';
import type { Bundle, Member } from '../../replay/bundle.js';
import { aloneOf } from '../../replay/tree.js';
import type { Heard } from './heard.js';
import { historiesOf, outputOf, recordingOf, type Activity, type Recording } from './recording.js';
import { refused } from './refused.js';

export interface GoalRecording {
  readonly bundle: Bundle;
  readonly start: GoalStart;
  readonly terms: GoalTerms;
  /** Of the goal itself. */
  readonly activities: readonly Activity[];
  readonly heard: readonly Heard[];
  /** In order. */
  readonly cycles: readonly RecordedCycle[];
}

export interface RecordedCycle {
  readonly n: number;
  /** Name of the agent. */
  readonly agent: string;
  /** Absent: its run never opened. */
  readonly recording?: Recording;
  /** From the start of its run to the newest event of its history, ms since epoch. */
  readonly from: number;
  readonly to: number;
}

export function isGoal(bundle: Pick<Bundle, 'segments'>): boolean {
  return historiesOf(bundle).workflow === 'goalRun';
}

/** Errors: `CaptureRefused`. */
export function goalRecordingOf(bundle: Bundle): GoalRecording {
  const { argument, activities, heard } = historiesOf(bundle);
  const start = argument as unknown as GoalStart;
  if (start.from !== undefined) throw refused(`it goes on with the goal ${start.from.goalId}`);
  const opening = activities.find(({ kind }) => kind === 'open_goal');
  const terms = opening && outputOf(opening, 'open_goal')?.terms;
  if (terms === undefined) throw refused('the goal was never opened, so nothing of it is recorded');
  return { bundle, start, terms, activities, heard, cycles: cyclesOf(bundle) };
}

/** Activities of a goal of one kind, as what they were given and what they gave. */
export function ofGoalKind<Kind extends ActivityKind>(
  { activities }: Pick<GoalRecording, 'activities'>,
  kind: Kind,
): readonly {
  readonly activity: Activity;
  readonly input: InputOf<Kind>;
  readonly output: OutputOf<Kind> | undefined;
}[] {
  return activities
    .filter((activity) => activity.kind === kind)
    .map((activity) => ({
      activity,
      input: activity.input as unknown as InputOf<Kind>,
      output: outputOf(activity, kind),
    }));
}

function cyclesOf(bundle: Bundle): readonly RecordedCycle[] {
  const { members = [] } = bundle;
  const below = members.find(({ parent }) => parent !== bundle.run.runId);
  if (below !== undefined) throw refused(`its cycle ${below.parent} had sub-agents`);
  const begun = new Map(
    bundle.events.flatMap((event) => (event.type === 'cycle_started' ? [[event.n, event]] : [])),
  );
  return [...begun.values()]
    .toSorted((a, b) => a.n - b.n)
    .map(({ n, runId, agent }) => {
      const member = members.find(({ run }) => run.runId === runId);
      if (member === undefined) throw lacking(n);
      return { n, agent, ...recordedCycle(bundle, member) };
    });
}

function lacking(n: number) {
  return refused(
    `the bundle lacks its cycle c${n}, whose models and tools are to answer from the record`,
    'Export the goal with everything below it: `holdfast export GOAL`, without --alone.',
  );
}

function recordedCycle(bundle: Bundle, member: Member) {
  const alone = aloneOf(bundle, member);
  const { events, activities } = historiesOf(alone);
  const opening = activities.find(({ kind }) => kind === 'open_run');
  const isOpened = opening !== undefined && outputOf(opening, 'open_run')?.frozen !== undefined;
  return {
    from: timeOf(events[0]),
    to: timeOf(events.at(-1)),
    ...(isOpened && { recording: recordingOf(alone) }),
  };
}

/** The cycles as one recorded run: its tools are those of all of them. Undefined: no cycle has opened. */
export function togetherOf({ cycles, bundle }: GoalRecording): Recording | undefined {
  const recordings = cycles.flatMap(({ recording }) => recording ?? []);
  const [first] = recordings;
  if (first === undefined) return undefined;
  const tools = recordings.flatMap(({ frozen }) => frozen.tools).filter(isOwn);
  const offers = recordings.flatMap(({ root }) => root.tools ?? []).filter(isOwn);
  let places = 0;
  const activities = recordings.flatMap((recording) => {
    const before = places;
    places += recording.bundle.segments.reduce((sum, { events }) => sum + events.length, 0);
    return recording.activities.filter(isNoGoalTool).map((activity) => ({
      ...activity,
      from: activity.from + before,
      to: activity.to === undefined ? undefined : activity.to + before,
    }));
  });
  return {
    ...first,
    bundle: { ...bundle, events: recordings.flatMap((one) => one.bundle.events) },
    frozen: { ...first.frozen, tools: firstOfEach(tools) },
    root: { ...first.root, tools: firstOfEach(offers) },
    activities,
  };
}

/** The goal gives these to its cycles; in a case they do what they do. */
function isOwn({ name }: { readonly name: string }): boolean {
  return !isGoalTool(name);
}

export function isGoalTool(name: string | undefined): boolean {
  return GOAL_TOOLS.some((one) => one === name);
}

function isNoGoalTool({ kind, input }: Activity): boolean {
  return kind !== 'execute_tool' || !isGoalTool(textAt(input, 'call', 'tool'));
}

function firstOfEach<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  return [...new Map(all.toReversed().map((one) => [one.name, one])).values()].toReversed();
}

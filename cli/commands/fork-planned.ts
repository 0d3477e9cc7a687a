/** `holdfast fork --plan`: what a fork would begin with, and which calls it would ask about. */
import { usd } from '../../evaluation/past/report.js';
import { callsInTree } from '../../evaluation/fork/calls-below.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import { forkPlanner, type ForkPlan } from '../../recording/fork-plan.js';
import { callReader, type CallReader } from '../../recording/handed-over.js';
import { indexReader, type FoldEnd, type IndexReader } from '../../recording/index-reader.js';
import type { Bundle, Segment } from '../../replay/bundle.js';
import type { RunHearer, RunTree, TreeHead } from '../../replay/stream/run-tree.js';
import { ROOT } from '../../replay/stream/walk-bundle.js';
import { LIST_ROWS_MAX } from '../../store/bounds.js';
import type { FamilyCall, FoundFamilyCalls } from '../../store/family-calls.js';
import type { Cli } from '../command.js';
import { oneHeard } from '../desk/recorded.js';
import { inert } from '../render/index.js';
import type { Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { meansNothing, type ForkOptions } from './fork-options.js';

const LINE_CHARS_MAX = 400;

interface PlannedForkWanted {
  readonly subject: string;
  readonly options: ForkOptions;
  readonly session: Session;
}

/** False: the run is a goal, of which nothing was shown. Errors: `StepNotFound`, and those of a store that was named. */
export async function showPlan(
  cli: Cli,
  asked: PlannedForkWanted,
  output: Output,
): Promise<boolean> {
  const { subject, options, session } = asked;
  let planned = planning(options.at, ROOT);
  const tree = await oneHeard(cli, { session, subject, member: options.run }, (followed) => {
    planned = planning(options.at, followed);
    return planned.hearer;
  });
  try {
    const end = planned.end();
    if (end.kind === 'goal') return false;
    if (options.budget !== undefined) throw meansNothing('budget');
    const { handedOver, ...plan } = planned.plan(end);
    const isNamed = options.store !== undefined;
    const stored = await storedOf(session, { tree, run: end.run, isNamed });
    const inFile = tree.source === 'file' ? planned.others(tree.head, end.run.runId) : [];
    const family = familyOf(stored, inFile, planned.asks);
    print({ runId: end.run.runId, ...plan, handedOver: { ...handedOver, ...family } }, output);
    return true;
  } finally {
    await tree.close();
  }
}

/** Follows one of the runs, and notes what the others gave to executors. */
function planning(step: number, followed: number) {
  const planner = forkPlanner(step);
  const calls = new Map<number, CallReader>();
  let index: IndexReader | undefined;
  const hearer = {
    event(event: RunEvent, member: number): void {
      if (member === followed) planner.event(event);
    },
    segment(segment: Segment, member: number, run: Bundle['run']): void {
      if (member !== followed) {
        const reader = calls.get(member) ?? callReader();
        calls.set(member, reader);
        reader.segment(segment);
        return;
      }
      index ??= indexReader(run, (moment) => {
        if (moment.kind === 'run') planner.moment(moment);
      });
      index.segment(segment);
    },
  } satisfies RunHearer;
  return {
    hearer,
    // A run has a segment at least.
    end: (): FoldEnd => index!.end(),
    plan: planner.plan,
    asks: planner.asks,
    /** Of other runs of the file: a live fork asks about these whatever a store knows. */
    others(head: TreeHead, runId: string): readonly PlannedCall[] {
      try {
        const all = callsInTree(head, runId, (member) => calls.get(member)?.effects() ?? []) ?? [];
        return all.map(({ key, runId: of, tool }) => ({ key, runId: of ?? runId, tool }));
      } catch (error) {
        // A file that lacks runs is forked dry alone.
        if (error instanceof HoldfastError && error.code === 'ForkRefused') return [];
        throw error;
      }
    },
  };
}

interface Stored {
  /** Absent: no store is at hand. */
  readonly found?: FoundFamilyCalls;
  /** Why the store that is there was not read. */
  readonly problem?: string;
}

interface Looked {
  readonly tree: Pick<RunTree, 'source'>;
  readonly run: Bundle['run'];
  /** Somebody has named the store. */
  readonly isNamed: boolean;
}

/** Calls of the other runs that a live fork would ask about. The plan of a file needs no store. */
async function storedOf(session: Session, { tree, run, isNamed }: Looked): Promise<Stored> {
  try {
    const store = await session.wholeStore();
    const found = await store?.callsOfFamily(run.tenant, run.runId, LIST_ROWS_MAX);
    return found === undefined ? {} : { found };
  } catch (error) {
    if (tree.source === 'run' || isNamed || !(error instanceof HoldfastError)) throw error;
    return { problem: error.message };
  }
}

/** Of a call that a file alone knows nobody has looked up when it was, and how it stands. */
type PlannedCall = Pick<FamilyCall, 'key' | 'runId' | 'tool'> & Partial<FamilyCall>;

interface Family {
  /** Absent: no store is at hand, and no other run is in the file. */
  readonly family?: readonly PlannedCall[];
  /** `family` is the newest LIST_ROWS_MAX of more. */
  readonly familyMore?: true;
  /** Why calls that a store may know are not in `family`. */
  readonly storeProblem?: string;
}

function familyOf(
  { found, problem }: Stored,
  inFile: readonly PlannedCall[],
  asks: (tool: string) => boolean,
): Family {
  const known = new Set(found?.calls.map(({ key }) => key));
  const both = [...(found?.calls ?? []), ...inFile.filter(({ key }) => !known.has(key))];
  // A store does not tell reads from effects.
  const all = both.filter(({ tool }) => asks(tool));
  const isMore = found?.more === true || all.length > LIST_ROWS_MAX;
  return {
    ...((found !== undefined || all.length > 0) && { family: all.slice(0, LIST_ROWS_MAX) }),
    ...(isMore && { familyMore: true }),
    ...(problem !== undefined && { storeProblem: problem }),
  };
}

interface Told extends Omit<ForkPlan, 'handedOver'> {
  readonly runId: string;
  readonly handedOver: ForkPlan['handedOver'] & Family;
}

function print(told: Told, output: Output): void {
  output.data(told);
  if (output.json) return;
  for (const line of linesOf(told)) output.line(inert(line, LINE_CHARS_MAX));
  for (const { segment, step } of told.divergences) {
    output.remark(
      `Calls of segment ${segment} from step ${step} on are not listed: the record differs there.`,
    );
  }
  const { family, familyMore, storeProblem } = told.handedOver;
  if (storeProblem !== undefined) {
    const why = inert(storeProblem, LINE_CHARS_MAX);
    output.remark(`The store was not read, and calls that it knows are not listed: ${why}`);
  } else if (family === undefined) {
    output.remark(
      'There is no store at hand: calls of other runs of the family are not listed (--store).',
    );
  }
  if (familyMore === true) {
    output.remark(`Of calls of other runs the newest ${LIST_ROWS_MAX} are listed.`);
  }
}

function linesOf(plan: Told): readonly string[] {
  const { step, spentMicroUsd, rules, handedOver } = plan;
  return [
    `After step ${step}: ${usd(spentMicroUsd)} spent, rules ${rules}`,
    ...plan.askedAnew.map(({ id, kind, tool }) => `asked anew       ${id} ${kind} ${tool ?? ''}`),
    ...plan.droppedGrants.map(({ id, tool }) => `grant dropped    ${id} ${tool}`),
    ...plan.notExecuted.map(({ name, n }) => `not executed     sub-agent ${n} ${name}`),
    ...plan.inFlight.map(
      ({ effectId, tool, becomes }) => `in flight        ${effectId} ${tool ?? ''}: ${becomes}`,
    ),
    ...[...handedOver.before, ...handedOver.after].map(
      (one) => `asks to repeat   ${one.tool} ${one.callId} (handed over in step ${one.step})`,
    ),
    ...(handedOver.family ?? []).map(
      ({ tool, key, runId }) => `asks to repeat   ${tool} ${key} (handed over by ${runId})`,
    ),
  ];
}

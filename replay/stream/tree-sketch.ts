/** Two recorded trees compared without holding either: first their paths by digests, then what is shown of them. */
import type { RunEvent } from '../../core/state/event.js';
import { diffBy, type Diff, type DiffOptions } from '../../recording/diff.js';
import { indexReader, type IndexReader } from '../../recording/index-reader.js';
import { NOTHING_PICKED, pickerOf, type Picker } from '../../recording/picked.js';
import { sketchReader, type Sketch, type SketchReader } from '../../recording/sketch.js';
import { placeIn, placesOf, treeDiffBy, type TreeDiff } from '../../recording/tree-diff.js';
import { comparedSketches, type PathsCompared } from '../../recording/verdict.js';
import type { RunHearer, RunTree, TreeHead } from './run-tree.js';
import { ROOT } from './walk-bundle.js';

export interface SketchedRun {
  readonly runId: string;
  readonly sketch: Sketch;
}

/** One side: the run itself, and those below it. */
export interface TreeSketch extends SketchedRun {
  /** Absent: none is below. */
  readonly below?: readonly SketchedRun[];
  /** Lets these hear their runs again. */
  pick(pickers: ReadonlyMap<SketchedRun, Picker>): Promise<void>;
}

/** By place, that of the root being ''. */
export type AgentNames = ReadonlyMap<string, string>;

/** Sketches a tree while it is heard. */
export interface TreeSketcher {
  readonly hearer: RunHearer;
  /** Who each run said that it is, when it began. */
  agents(head: TreeHead): AgentNames;
  /** Behind the end. */
  tree(reading: Pick<RunTree, 'head' | 'again'>): TreeSketch;
}

export function treeSketcher(options: DiffOptions): TreeSketcher {
  const readers = new Map<number, SketchReader>();
  const agents = new Map<number, string>();
  const readerOf = (member: number): SketchReader => {
    const reader = readers.get(member) ?? sketchReader(options);
    readers.set(member, reader);
    return reader;
  };
  const sketched = (runId: string, member: number): SketchedRun => ({
    runId,
    sketch: readerOf(member).end(runId),
  });
  return {
    hearer: {
      event(event, member) {
        if (event.type === 'session_init' && !agents.has(member)) agents.set(member, event.agent);
        readerOf(member).event(event);
      },
    },
    agents({ run: root, members = [] }) {
      const placeOf = (member: number): string =>
        member === ROOT ? '' : placeIn(root.runId, members[member]!.run.runId);
      return new Map([...agents].map(([member, agent]) => [placeOf(member), agent]));
    },
    tree({ head, again }) {
      const below = (head.members ?? []).map(({ run }, member) => sketched(run.runId, member));
      const tree: TreeSketch = {
        ...sketched(head.run.runId, ROOT),
        ...(below.length > 0 && { below }),
        pick(pickers) {
          const runs: readonly SketchedRun[] = [tree, ...below];
          return again(pickHearer((member) => pickers.get(runs[member - ROOT]!)));
        },
      };
      return tree;
    },
  };
}

/** Of each run the events come first. */
function pickHearer(pickerOfMember: (member: number) => Picker | undefined): RunHearer {
  const indexes = new Map<number, IndexReader>();
  return {
    event: (event, member) => pickerOfMember(member)?.event(event),
    segment(segment, member, run) {
      const picker = pickerOfMember(member);
      if (picker === undefined) return;
      const known = indexes.get(member);
      if (known === undefined) picker.end();
      const index = known ?? indexReader(run, (moment) => picker.step(moment));
      indexes.set(member, index);
      index.segment(segment);
    },
  };
}

/** A run whose events are held. */
export interface HeldRun {
  readonly runId: string;
  readonly events: readonly RunEvent[];
}

/** Of a run and those below it, which have no histories. */
export function sketchOfEvents(
  root: HeldRun,
  others: readonly HeldRun[],
  options: DiffOptions,
): TreeSketch {
  const sketched = ({ runId, events }: HeldRun): SketchedRun => {
    const reader = sketchReader(options);
    for (const event of events) reader.event(event);
    return { runId, sketch: reader.end(runId) };
  };
  const below = others.map(sketched);
  const tree: TreeSketch = {
    ...sketched(root),
    ...(below.length > 0 && { below }),
    pick(pickers) {
      const runs: readonly SketchedRun[] = [tree, ...below];
      for (const [index, { events }] of [root, ...others].entries()) {
        const picker = pickers.get(runs[index]!);
        for (const event of events) picker?.event(event);
        picker?.end();
      }
      return Promise.resolve();
    },
  };
  return tree;
}

export async function diffOfSketches(
  a: TreeSketch,
  b: TreeSketch,
  options: DiffOptions,
): Promise<TreeDiff> {
  const pairs: readonly Pair[] = [
    pairOf([a, b], options),
    ...placesOf(a, b).flatMap((place) =>
      place.a === undefined || place.b === undefined ? [] : [pairOf([place.a, place.b], options)],
    ),
  ];
  if (pairs.some(({ pickers }) => pickers !== undefined)) {
    await a.pick(pickersOf(pairs, 0));
    await b.pick(pickersOf(pairs, 1));
  }
  const byRun = new Map<SketchedRun, Pair>(pairs.map((pair) => [pair.runs[0], pair]));
  return treeDiffBy<SketchedRun>([a, b], (one) => diffOfPair(byRun.get(one)!, options));
}

interface Pair {
  readonly runs: readonly [SketchedRun, SketchedRun];
  readonly verdict: PathsCompared;
  /** Absent: nothing is shown. */
  readonly pickers?: readonly [Picker, Picker];
}

function pairOf(runs: Pair['runs'], options: DiffOptions): Pair {
  const verdict = comparedSketches(runs[0].sketch, runs[1].sketch, options);
  const [a, b] = [pickerOf(verdict, 'a', options), pickerOf(verdict, 'b', options)];
  return { runs, verdict, ...(a !== undefined && b !== undefined && { pickers: [a, b] }) };
}

function pickersOf(pairs: readonly Pair[], side: 0 | 1): ReadonlyMap<SketchedRun, Picker> {
  return new Map(
    pairs.flatMap(({ runs, pickers }) =>
      pickers === undefined ? [] : [[runs[side], pickers[side]] as const],
    ),
  );
}

function diffOfPair({ runs, verdict, pickers }: Pair, options: DiffOptions): Diff {
  const [a, b] = runs.map(({ sketch }, side) => ({
    sketch,
    ...(pickers?.[side as 0 | 1].picked ?? NOTHING_PICKED),
  }));
  return diffBy(verdict, [a!, b!], options);
}

/**
 * A bundle whose lists may lie elsewhere than in memory: whoever looks at one of them reads it anew, one value at a time.
 * Invariant: keys and lists stand in the order that the bundle has them in.
 */
import type { JsonObject } from '../../recording/history.js';
import type { Bundle, Member, Segment } from '../bundle.js';
import type { ReplayableTree } from '../replay-tree.js';
import type { BundledRun } from '../tree.js';

/** Can be read again. */
export type Values<T> = AsyncIterable<T> | Iterable<T>;

/** Values by the hashes of what they hold. */
export interface Keyed<T> extends AsyncIterable<readonly [hash: string, value: T]> {
  readonly names: readonly string[];
  /** `name` is one of the names. */
  get(name: string): Promise<T>;
}

export type RecordedSegment = Omit<Segment, 'events'> & {
  readonly events: Values<Segment['events'][number]>;
};

export type RecordedRun = Omit<BundledRun, 'segments' | 'events'> & {
  /** Oldest first. */
  readonly segments: readonly RecordedSegment[];
  readonly events: Values<BundledRun['events'][number]>;
};

export type RecordedMember = RecordedRun & Pick<Member, 'parent' | 'agentPath'>;

export type Recorded = RecordedRun &
  Pick<Bundle, 'exportedAt' | 'redactions' | 'absent'> & {
    readonly nodes: Keyed<JsonObject>;
    readonly blobs: Keyed<string>;
    readonly members?: readonly RecordedMember[];
  };

/** Where values are put that are read again. */
export interface Shelf {
  list<T>(values: Values<T>): Promise<Values<T>>;
  /** Of values of the same name the first is kept: their content is the same. */
  keyed<T>(values: Values<readonly [hash: string, value: T]>): Promise<Keyed<T>>;
  /** Nothing that lies there can be read any more. */
  close(): Promise<void>;
}

export const IN_MEMORY: Shelf = {
  list: heldList,
  async keyed<T>(values: Values<readonly [string, T]>): Promise<Keyed<T>> {
    const held = new Map<string, T>();
    for await (const [hash, value] of values) if (!held.has(hash)) held.set(hash, value);
    return heldKeyed(held);
  },
  close: () => Promise.resolve(),
};

/** The root first, each other run after its parent. */
export function recordedRuns(recorded: Recorded): readonly RecordedRun[] {
  return [recorded, ...(recorded.members ?? [])];
}

export async function heldList<T>(values: Values<T>): Promise<readonly T[]> {
  if (Array.isArray(values)) return values as readonly T[];
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

export function keyedOf<T>(names: readonly string[], get: (name: string) => Promise<T>): Keyed<T> {
  return {
    names,
    get,
    async *[Symbol.asyncIterator]() {
      for (const name of names) yield [name, await get(name)] as const;
    },
  };
}

function heldKeyed<T>(values: ReadonlyMap<string, T>): Keyed<T> {
  return keyedOf([...values.keys()], (name) => Promise.resolve(values.get(name)!));
}

export function recordedOf(bundle: Bundle): Recorded {
  return {
    ...bundle,
    nodes: heldKeyed(new Map(Object.entries(bundle.nodes))),
    blobs: heldKeyed(new Map(Object.entries(bundle.blobs))),
  };
}

export async function bundleOf(recorded: Recorded): Promise<Bundle> {
  const { members } = recorded;
  const held = {
    ...(await heldRun(recorded)),
    nodes: Object.fromEntries(await heldList(recorded.nodes)),
    blobs: Object.fromEntries(await heldList(recorded.blobs)),
  };
  if (members === undefined) return held as Bundle;
  return { ...held, members: await Promise.all(members.map(heldRun)) };
}

async function heldRun<Run extends RecordedRun>(
  run: Run,
): Promise<Omit<Run, 'segments' | 'events'> & Pick<BundledRun, 'segments' | 'events'>> {
  return {
    ...run,
    segments: await Promise.all(run.segments.map(heldSegment)),
    events: await heldList(run.events),
  };
}

export async function heldSegment(segment: RecordedSegment): Promise<Segment> {
  return { ...segment, events: await heldList(segment.events) };
}

/** For its replay, one segment at a time. */
export function replayableOf(recorded: Recorded): ReplayableTree {
  const runs = recordedRuns(recorded).map(({ run, segments }) => ({
    run,
    segments: oneByOne(segments),
  }));
  return { root: recorded.run.runId, count: runs.length, runs };
}

async function* oneByOne(segments: readonly RecordedSegment[]): AsyncGenerator<Segment, void> {
  for (const segment of segments) yield heldSegment(segment);
}

/**
 * A recorded run, or its tree, whose events and histories are heard one by one and never held together: from a file, or
 * from a server by way of a disk.
 * Invariant: of each run all events are heard, then all segments, each in order; again as often as somebody asks.
 */
import type { RunEvent } from '../../core/state/event.js';
import type { Bundle, Segment } from '../bundle.js';
import { below, type ExportPlace, type RecordedTree } from '../export-run.js';
import { readWhole } from '../read-bundle.js';
import { heldSegment, type RecordedRun, type Values } from '../redaction/recorded.js';
import { NO_REFERENCES } from '../references.js';
import { isNamed, noSuchMember, runsOf } from '../tree.js';
import type { Json } from '../../core/json/json.js';
import { hearAgain } from './bundle-file.js';
import { NotCanonical } from './json-pieces.js';
import { keptTree, type KeptRun } from './record-run.js';
import { openSpooledShelf } from './spooled-shelf.js';
import { ROOT, walkBundle, type MemberHead } from './walk-bundle.js';

export interface RunHearer {
  /** `member`: place in the list of members, or ROOT. */
  event?(event: RunEvent, member: number): void;
  /** `run`: the one that it is of. */
  segment?(segment: Segment, member: number, run: Bundle['run']): void;
}

export type TreeHead = Pick<Bundle, 'run' | 'redactions' | 'absent'> & {
  /** Parents before their children; absent: the run is alone. */
  readonly members?: readonly Pick<MemberHead, 'run' | 'parent' | 'agentPath'>[];
};

export interface RunTree {
  readonly source: 'file' | 'run';
  readonly head: TreeHead;
  /** Of the text of a file that was read in pieces. */
  readonly textDigest?: string;
  /** Errors: `InvalidBundle` for a file that was changed since. */
  again(hearer: RunHearer): Promise<void>;
  close(): Promise<void>;
}

/**
 * `hearing` makes who hears it once from the beginning; where a first reading fails, another one is asked for.
 * Errors: `InvalidBundle`, and those of the hearer.
 */
export async function treeOfFile(file: string, hearing: () => RunHearer): Promise<RunTree> {
  const { hearer, rethrow } = deferred(hearing());
  try {
    const { head, textDigest } = await walkBundle(file, hearer);
    rethrow();
    const read = { file, textDigest };
    const again = (next: RunHearer): Promise<void> => hearAgain(read, next);
    return { source: 'file', head, textDigest, again, close: nothing };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    const bundle = await readWhole(file);
    const tree = treeOfHeld(bundle);
    await tree.again(hearing());
    return tree;
  }
}

/** Of what is wrong in a file its reader speaks first. */
function deferred(hearer: RunHearer) {
  let failed: { readonly error: unknown } | undefined;
  const guarded = (hear: () => void): void => {
    if (failed !== undefined) return;
    try {
      hear();
    } catch (error) {
      failed = { error };
    }
  };
  return {
    hearer: {
      event: (event: RunEvent, member: number) => guarded(() => hearer.event?.(event, member)),
      segment: (one: Segment, member: number, run: Bundle['run']) =>
        guarded(() => hearer.segment?.(one, member, run)),
    },
    rethrow(): void {
      if (failed !== undefined) throw failed.error;
    },
  };
}

function treeOfHeld(bundle: Bundle): RunTree {
  async function again(hearer: RunHearer): Promise<void> {
    for (const [index, { run, events, segments }] of runsOf(bundle).entries()) {
      for (const event of events) hearer.event?.(event, index + ROOT);
      for (const segment of segments) hearer.segment?.(segment, index + ROOT, run);
    }
    return Promise.resolve();
  }
  return { source: 'file', head: bundle, again, close: nothing };
}

/** Place of a run of the tree, by its id or what that has behind the root's. Errors: `RunNotFound`. */
export function placeOfMember(
  { run: { runId: root }, members = [] }: TreeHead,
  name: string,
): number {
  if (isNamed(root, { root, name })) return ROOT;
  const place = members.findIndex(({ run }) => isNamed(run.runId, { root, name }));
  if (place !== -1) return place;
  throw noSuchMember(
    root,
    name,
    members.map(({ run }) => run.runId),
  );
}

interface TreeOptions {
  /** The run by itself. */
  readonly alone: boolean;
  /** On a disk that has room for what is read. */
  readonly folder: string;
  readonly hearer: RunHearer;
}

/** Errors: those of `exportTree`, but for the conversation, which is not read. */
export async function treeOfRun(
  place: ExportPlace,
  run: Bundle['run'],
  { alone, folder, hearer }: TreeOptions,
): Promise<RunTree> {
  const shelf = await openSpooledShelf(folder);
  try {
    const { root, members, absent }: RecordedTree<KeptRun<Values<Json>>> = await keptTree(
      place,
      { run, alone },
      {
        keep: (values) => shelf.list(values),
        inHistory: () => NO_REFERENCES,
        inEvents: () => NO_REFERENCES,
      },
    );
    const runs = [root, ...members] as unknown as readonly RecordedRun[];
    const again = (next: RunHearer): Promise<void> => hearRuns(runs, next);
    await again(hearer);
    return {
      source: 'run',
      head: { run: root.run, redactions: [], ...below(members, absent) },
      again,
      close: () => shelf.close(),
    };
  } catch (error) {
    await shelf.close();
    throw error;
  }
}

async function hearRuns(runs: readonly RecordedRun[], hearer: RunHearer): Promise<void> {
  for (const [index, { run, events, segments }] of runs.entries()) {
    if (hearer.event !== undefined) {
      for await (const event of events) hearer.event(event, index + ROOT);
    }
    if (hearer.segment === undefined) continue;
    for (const segment of segments) await hearSegment(segment, index + ROOT);
    // By itself: a loop that waits for the next segment would hold the one before.
    async function hearSegment(segment: RecordedRun['segments'][number], member: number) {
      hearer.segment?.(await heldSegment(segment), member, run);
    }
  }
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

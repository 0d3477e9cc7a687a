/**
 * Exports a run, or its tree, without holding more than one of its histories: each is written to a spool when it has been
 * read, with its events and messages, and large texts are read when they are written.
 * Invariant: the bundle is the one that `exportRun` or `exportTree` gives.
 */
import type { Json } from '../../core/json/json.js';
import type { Bundle } from '../bundle.js';
import { below, type ExportPlace, type RecordedTree } from '../export-run.js';
import { listFormOf, type BundleSource, type RunSource } from './bundle-source.js';
import { spoolOf, type BundleSpool } from './bundle-spool.js';
import { keptTree, type KeptRun } from './record-run.js';
import type { Stretch } from './spool.js';

export interface StreamOptions {
  /** The run by itself. */
  readonly alone: boolean;
  /** For the spool: a folder on a disk that has room for a bundle. */
  readonly folder: string;
  /** Is shown every recorded value, large texts among them when they are written, and may throw. */
  readonly look?: (value: Json) => void;
}

export interface SpooledExport {
  readonly source: BundleSource;
  /** Known when the source has been written. */
  counts(): { readonly events: number; readonly nodes: number; readonly blobs: number };
  /** Gives the spool back. */
  close(): Promise<void>;
}

/** Errors: those of `exportTree`. */
export async function openExport(
  place: ExportPlace,
  run: Bundle['run'],
  { alone, folder, look = () => undefined }: StreamOptions,
): Promise<SpooledExport> {
  const spool = await spoolOf({ store: place.store, tenant: run.tenant, folder, look });
  try {
    const tree = await keptTree(
      place,
      { run, alone },
      {
        keep: (values) => spool.put(listFormOf(values)),
        inHistory: spool.look,
        inEvents: spool.look,
      },
    );
    // A run that is absent after all is not in the bundle, and neither is what it refers to.
    for (const { referred } of [tree.root, ...tree.members]) {
      for (const one of [...referred.histories.toReversed(), ...referred.events]) spool.refer(one);
    }
    await spool.readConversation();
    return {
      source: sourceOfTree(tree, spool),
      counts: () => ({ ...spool.counts(), events: tree.root.eventCount }),
      close: () => spool.close(),
    };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

function sourceOfTree(
  { root, members, absent }: RecordedTree<KeptRun<Stretch>>,
  spool: BundleSpool,
): BundleSource {
  const spooled = members.map((member) => ({
    ...spooledRun(member, spool),
    parent: member.parent,
    ...(member.agentPath !== undefined && { agentPath: member.agentPath }),
  }));
  return {
    ...spooledRun(root, spool),
    exportedAt: Date.now(),
    redactions: [],
    nodes: () => spool.nodes(),
    blobs: () => spool.blobs(),
    ...below(spooled, absent),
  };
}

function spooledRun(kept: KeptRun<Stretch>, spool: BundleSpool): RunSource {
  const { run, versions, segments, events } = kept;
  return {
    run,
    versions,
    segments: segments.map((segment) => ({ ...segment, events: () => spool.read(segment.events) })),
    events: () => spool.read(events),
  };
}

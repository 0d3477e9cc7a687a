/** A bundle whose large parts come as text when they are written: histories, events, messages, large texts. */
import type { Json } from '../../core/json/json.js';
import {
  BUNDLE_BYTES_MAX,
  type Absent,
  type Bundle,
  type BundleVersions,
  type Redaction,
  type Segment,
} from '../bundle.js';
import {
  recordedOf,
  type Keyed,
  type Recorded,
  type RecordedRun,
  type Values,
} from '../redaction/recorded.js';
import { canonicalForm } from './canonical-form.js';
import { tooLargeBundle } from './too-large.js';

/** Pieces of text; of bytes, cut anywhere. */
export type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

export interface SegmentSource extends Omit<Segment, 'events'> {
  /** The canonical form of its history. */
  events(): Pieces;
}

export interface RunSource {
  readonly run: Bundle['run'];
  readonly versions: BundleVersions;
  /** Oldest first. */
  readonly segments: readonly SegmentSource[];
  /** The canonical form of what the outside saw. */
  events(): Pieces;
}

export interface MemberSource extends RunSource {
  readonly parent: string;
  readonly agentPath?: readonly string[];
}

export interface BundleSource extends RunSource {
  /** ms since epoch. */
  readonly exportedAt: number;
  readonly redactions: readonly Redaction[];
  readonly members?: readonly MemberSource[];
  readonly absent?: readonly Absent[];
  /** Canonical forms, in the order of the hashes. */
  nodes(): AsyncIterable<Hashed> | Iterable<Hashed>;
  blobs(): AsyncIterable<Hashed> | Iterable<Hashed>;
}

export interface Hashed {
  readonly hash: string;
  /** The canonical form. */
  readonly form: Pieces;
}

/** Of a bundle that is held whole. */
export function sourceOf(bundle: Bundle): BundleSource {
  return sourceOfRecorded(recordedOf(bundle));
}

export function sourceOfRecorded(recorded: Recorded): BundleSource {
  const { exportedAt, redactions, members, absent, nodes, blobs } = recorded;
  return {
    ...runSource(recorded),
    exportedAt,
    redactions,
    ...(members !== undefined && {
      members: members.map(({ parent, agentPath, ...member }) => ({
        ...runSource(member),
        parent,
        ...(agentPath !== undefined && { agentPath }),
      })),
    }),
    ...(absent !== undefined && { absent }),
    nodes: () => hashed(nodes),
    blobs: () => hashed(blobs),
  };
}

function runSource({ run, versions, segments, events }: RecordedRun): RunSource {
  return {
    run,
    versions,
    segments: segments.map(({ events: history, ...segment }) => ({
      ...segment,
      events: () => listFormOf(history),
    })),
    events: () => listFormOf(events as unknown as Values<Json>),
  };
}

async function* hashed(values: Keyed<Json>): AsyncGenerator<Hashed, void> {
  for (const hash of values.names.toSorted()) {
    yield { hash, form: [canonicalForm(await values.get(hash))] };
  }
}

/** The canonical form of a list, one of its values at a time. */
export async function* listFormOf(values: Values<Json>): AsyncGenerator<string, void> {
  let before = '[';
  let chars = 0;
  for await (const value of values) {
    const piece = `${before}${canonicalForm(value)}`;
    // All of it would go into the bundle, and no text has fewer bytes than letters.
    chars += piece.length;
    if (chars > BUNDLE_BYTES_MAX) throw tooLargeBundle();
    yield piece;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

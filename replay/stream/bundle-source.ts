/** A bundle whose large parts come as text when they are written: histories, events, messages, large texts. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { Absent, Bundle, BundleVersions, Redaction, Segment } from '../bundle.js';
import { type BundledRun } from '../tree.js';

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
  const { exportedAt, redactions, members, absent, nodes, blobs } = bundle;
  return {
    ...runSource(bundle),
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

function runSource({ run, versions, segments, events }: BundledRun): RunSource {
  return {
    run,
    versions,
    segments: segments.map(({ events: history, ...segment }) => ({
      ...segment,
      events: () => listForm(history),
    })),
    events: () => listForm(events as unknown as readonly Json[]),
  };
}

function* hashed(values: { readonly [hash: string]: Json }): Generator<Hashed> {
  for (const hash of Object.keys(values).toSorted()) {
    yield { hash, form: [canonicalJson(values[hash]!)] };
  }
}

/** The canonical form of a list, one of its values at a time. */
export function* listForm(values: Iterable<Json>): Generator<string, void> {
  let before = '[';
  for (const value of values) {
    yield `${before}${canonicalJson(value)}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

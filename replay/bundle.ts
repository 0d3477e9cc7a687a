/**
 * The bundle: one file that holds a run as it was recorded, with the sub-agents or cycles below it. It replays without
 * a server or a store; its nodes and blobs are what a fork or a fixture made from it would need besides.
 * Invariants: segments are a whole chain from the run's start; every node and every blob lies under the hash
 * of what it holds, once for all runs; `v` grows with each change that an older reader would misread, and what an older
 * reader can read is written as it knows it.
 */
import { canonicalJson, type Json } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import type { Segment } from '../recording/chain.js';
import type { JsonObject } from '../recording/history.js';
import { sha256OfText } from './sha256.js';

export type { Segment };

export const BUNDLE_FORMAT = 'holdfast-bundle';
/** Newest version; from 2 on there are members. */
export const BUNDLE_VERSION = 2;
/** Of a run by itself. */
export const ALONE_VERSION = 1;
/** Largest file, in bytes; Temporal's histories end at 50 MiB each. */
export const BUNDLE_BYTES_MAX = 256 * 1024 * 1024;
export const SEGMENTS_MAX = 10_000;

export interface BundleVersions {
  /** Release that wrote the bundle. */
  readonly exporter: string;
  /** Rule set of the newest segment; null: it had not begun. */
  readonly rules: number | null;
  /** Code ids of the workers that decided the run, oldest first. */
  readonly code: readonly string[];
  /** What was frozen at the start: prompt, tools, policy, route, prices, code. */
  readonly frozen: { readonly [name: string]: string };
}

/** One rule of a redaction and where it has replaced something. */
export interface Redaction {
  readonly rule: string;
  /** What stands in place of the hidden values. */
  readonly markers: readonly string[];
  /** JSON pointers into the bundle, payloads taken as their values; the first of them. */
  readonly places: readonly string[];
  readonly count: number;
}

/** A sub-agent or a cycle below the run of a bundle. Its messages and large texts are those of the bundle. */
export interface Member {
  readonly run: Bundle['run'];
  /** Run id of the run, or goal, that started it. */
  readonly parent: string;
  /** Of a sub-agent: names of the agents from the root to it, both among them. */
  readonly agentPath?: readonly string[];
  readonly versions: BundleVersions;
  readonly segments: readonly Segment[];
  readonly events: readonly RunEvent[];
}

/** A run below the run of a bundle that is not in it. */
export interface Absent {
  readonly runId: string;
  readonly parent: string;
  /** For people. */
  readonly reason: string;
}

export interface Bundle {
  readonly run: { readonly tenant: string; readonly runId: string };
  /** ms since epoch. */
  readonly exportedAt: number;
  readonly versions: BundleVersions;
  readonly segments: readonly Segment[];
  /** Transcript nodes by hash. */
  readonly nodes: { readonly [hash: string]: JsonObject };
  /** Large texts by hash. */
  readonly blobs: { readonly [hash: string]: string };
  /** What the outside saw of the run. */
  readonly events: readonly RunEvent[];
  readonly redactions: readonly Redaction[];
  /** All runs below this one, each after its parent; absent: the run alone. */
  readonly members?: readonly Member[];
  /** Absent: none is missing, or the run is alone. */
  readonly absent?: readonly Absent[];
}

/** The file's text: the bundle with its digest, by which the reader knows that it is whole. */
export function bundleText(bundle: Bundle): string {
  const v =
    bundle.members === undefined && bundle.absent === undefined ? ALONE_VERSION : BUNDLE_VERSION;
  const content = { format: BUNDLE_FORMAT, v, ...bundle };
  return `${JSON.stringify({ ...content, digest: bundleDigest(content) })}\n`;
}

/** sha256 of the canonical form of everything else. */
export function bundleDigest(content: object): string {
  return sha256OfText(canonicalJson(content as Json));
}

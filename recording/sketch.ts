/**
 * A path by its digests: two paths are compared by them, and no entry is held for that.
 * Invariant: equal digests stand for equal canonical forms; of an action with the type of its event.
 */
import { canonicalJson, sha256Hex, type Json } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import type { RunResult } from '../core/state/result.js';
import { pathReader, type PathEntry } from './path.js';

export interface DiffOptions {
  /** What models and tools said is not compared, nor what it cost: only what was done. */
  readonly actions: boolean;
}

export interface Sketch {
  readonly runId: string;
  /** Entries of the path. */
  readonly length: number;
  action(index: number): Buffer;
  words(index: number): Buffer;
  isDecided(index: number): boolean;
  /** Absent: the run has not ended. */
  readonly result: RunResult | undefined;
}

/** Of events that come one by one. */
export interface SketchReader {
  event(event: RunEvent): void;
  /** Behind the last event. */
  end(runId: string): Sketch;
}

/** Where an entry stands in the path. */
export type EntryAt = (entry: PathEntry, index: number) => void;

export function sketchReader(options: DiffOptions): SketchReader {
  const digests = digestList();
  let result: RunResult | undefined;
  const entries = entryReader(options, (entry) => {
    digests.add(entry.side === 'decided', [[entry.type, entry.action], entry.words]);
  });
  return {
    event(event) {
      if (event.type === 'run_result') ({ result } = event);
      entries.event(event);
    },
    end(runId) {
      entries.end();
      return { runId, result, ...digests.list() };
    },
  };
}

/** The entries that are compared, each with its place. */
export function entryReader({ actions }: DiffOptions, heard: EntryAt) {
  let index = 0;
  return pathReader((entry) => {
    if (actions && entry.type === 'tool_note') return;
    heard(entry, index);
    index += 1;
  });
}

const DIGEST_BYTES = 32;
const ENTRY_BYTES = 2 * DIGEST_BYTES + 1;
const FIRST_ENTRIES = 64;

function digestList() {
  let bytes = Buffer.alloc(FIRST_ENTRIES * ENTRY_BYTES);
  let length = 0;
  return {
    add(isDecided: boolean, [action, words]: readonly [action: Json, words: Json]): void {
      const at = length * ENTRY_BYTES;
      if (at === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)]);
      digestOf(action).copy(bytes, at);
      digestOf(words).copy(bytes, at + DIGEST_BYTES);
      bytes[at + 2 * DIGEST_BYTES] = isDecided ? 1 : 0;
      length += 1;
    },
    list() {
      const digest = (index: number, place: number): Buffer => {
        const from = index * ENTRY_BYTES + place * DIGEST_BYTES;
        return bytes.subarray(from, from + DIGEST_BYTES);
      };
      return {
        length,
        action: (index: number) => digest(index, 0),
        words: (index: number) => digest(index, 1),
        isDecided: (index: number) => bytes[index * ENTRY_BYTES + 2 * DIGEST_BYTES] === 1,
      };
    },
  };
}

function digestOf(value: Json): Buffer {
  return Buffer.from(sha256Hex(canonicalJson(value)), 'hex');
}

/** How two paths differ, by the places of their entries. */
export interface Verdict {
  /** Of the first difference, and of the first decision that differs; absent: there is none. */
  readonly first?: number;
  readonly decision?: number;
  readonly inAction: boolean;
  /** Places that differ in words alone. */
  readonly texts: number;
}

export function comparedSketches(a: Sketch, b: Sketch, { actions }: DiffOptions): Verdict {
  let first: number | undefined;
  let decision: number | undefined;
  let inAction = false;
  let texts = 0;
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const differs = differenceAt(a, b, index);
    if (differs === undefined) continue;
    if (differs === 'words') texts += 1;
    if (differs === 'words' && actions) continue;
    first ??= index;
    if (differs === 'words') continue;
    inAction = true;
    if ([a, b].some((side) => index < side.length && side.isDecided(index))) decision ??= index;
  }
  return {
    ...(first !== undefined && { first }),
    ...(decision !== undefined && { decision }),
    inAction,
    texts,
  };
}

export function differenceAt(a: Sketch, b: Sketch, index: number): 'action' | 'words' | undefined {
  if (index >= a.length || index >= b.length) return 'action';
  if (!a.action(index).equals(b.action(index))) return 'action';
  return a.words(index).equals(b.words(index)) ? undefined : 'words';
}

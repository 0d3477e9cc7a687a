/**
 * A path by its digests: two paths are compared by them, and no entry is held for that.
 * Invariant: equal digests stand for equal canonical forms; of an action with the type of its event, and with the place of
 * its call in the reply alone, because which reply it was decides nothing.
 */
import { canonicalJson, sha256Hex, type Json } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import type { RunResult } from '../core/state/result.js';
import { isRecord } from '../core/json/shape.js';
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
  /** Equal for events of the same type about the same tool. */
  kind(index: number): number;
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
    const action = comparedAction(entry);
    const tool = isRecord(action) ? (action['tool'] ?? null) : null;
    digests.add(entry.side === 'decided', [[entry.type, action], entry.words, [entry.type, tool]]);
  });
  return {
    event(event) {
      if (event.type === 'run_result' || event.type === 'goal_result') ({ result } = event);
      entries.event(event);
    },
    end(runId) {
      entries.end();
      return { runId, result, ...digests.list() };
    },
  };
}

/** Calls are named by reply and place, as `2.1`. */
export function comparedAction({ action }: PathEntry): Json {
  if (!isRecord(action) || typeof action['call'] !== 'string') return action;
  return { ...action, call: action['call'].replace(/^\d+\./, '') };
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
const KIND_AT = 2 * DIGEST_BYTES;
const KIND_BYTES = 4;
const DECIDED_AT = KIND_AT + KIND_BYTES;
const ENTRY_BYTES = DECIDED_AT + 1;
const FIRST_ENTRIES = 64;

function digestList() {
  let bytes = Buffer.alloc(FIRST_ENTRIES * ENTRY_BYTES);
  let length = 0;
  return {
    add(isDecided: boolean, [action, words, kind]: readonly [Json, Json, Json]): void {
      const at = length * ENTRY_BYTES;
      if (at === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)]);
      digestOf(action).copy(bytes, at);
      digestOf(words).copy(bytes, at + DIGEST_BYTES);
      digestOf(kind).copy(bytes, at + KIND_AT, 0, KIND_BYTES);
      bytes[at + DECIDED_AT] = isDecided ? 1 : 0;
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
        kind: (index: number) => bytes.readUInt32BE(index * ENTRY_BYTES + KIND_AT),
        isDecided: (index: number) => bytes[index * ENTRY_BYTES + DECIDED_AT] === 1,
      };
    },
  };
}

function digestOf(value: Json): Buffer {
  return Buffer.from(sha256Hex(canonicalJson(value)), 'hex');
}

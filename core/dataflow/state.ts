/**
 * The dataflow state of a run: results by path, for later calls (G1, G10).
 * Invariants: a path is written once, by the first call that succeeds with it, and never again; what
 * overlaps a written path is written too; a large value is a reference and stays whole (C39, R1).
 */
import type { Json, StoredText } from '../json/json.js';
import type { OpenRun } from '../state/run.js';
import type { ToolResult } from '../state/tool-result.js';
import type { Call } from '../state/call.js';
import type { State } from '../state/dataflow.js';
import { overlaps } from './state-path.js';

/** Paths that a run may write. */
export const STATE_PATHS_MAX = 100;
/** Values up to this size lie in the run. */
export const STATE_INLINE_BYTES_MAX = 256;

/** First name of the paths that hold what earlier runs of the session wrote; nothing is written there (G10). */
export const PREVIOUS = 'previous';

export function isPrevious(path: string): boolean {
  return path === PREVIOUS || path.startsWith(`${PREVIOUS}.`);
}

/** Paths that this run has written itself. */
export function ownPaths(run: OpenRun): readonly string[] {
  return Object.keys(writtenState(run)).filter((path) => !isPrevious(path));
}

export function writtenState(run: OpenRun): State {
  return run.state ?? {};
}

/** The written path that leaves no room for this one. */
export function takenBy(run: OpenRun, path: string): string | undefined {
  return Object.keys(writtenState(run)).find((written) => overlaps(written, path));
}

/** The path that this result becomes the value of, if any. */
export function pathWritten(run: OpenRun, call: Call, result: ToolResult): string | undefined {
  const path = call.flow?.outputPath;
  if (path === undefined || result.status !== 'ok') return undefined;
  return takenBy(run, path) === undefined ? path : undefined;
}

export function withValue(run: OpenRun, path: string | undefined, result: ToolResult): OpenRun {
  if (path === undefined) return run;
  const { content } = result;
  const value =
    'text' in content ? { text: content.text } : { $blob: content.$blob, bytes: content.bytes };
  const typed = { ...value, ...(content.json && { json: content.json }) };
  return { ...run, state: { ...run.state, [path]: typed } };
}

/** Its result becomes a value of the state. */
export function isReferredTo({ flow }: Call): boolean {
  return flow?.outputPath !== undefined;
}

/** What a person gave as the result of a call. */
export function givenText(call: Call, value: Json): StoredText {
  if (typeof value === 'string') return { text: value };
  return { text: JSON.stringify(value), ...(isReferredTo(call) && { json: true }) };
}

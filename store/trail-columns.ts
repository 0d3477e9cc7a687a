/**
 * What searches ask of the events of a run, kept in its row: the tools that it called, the codes with which calls failed, the
 * last call that failed, and the rule that ended it.
 * Invariants: `tools_used` is null where the columns do not tell (an older release has written events of the run, some were
 * superseded, or there are too many names), and stays null; nothing else of the trail counts then.
 */
import type { RunEvent } from '../core/state/event.js';
import { wellFormed } from './bounds.js';
import type { RunTable } from './schema.js';
import type { TrailTable } from './trail-table.js';

export interface StoredTrail {
  /** The rule that ended it; absent: no event names one. */
  readonly rule?: string;
  /** The last call that failed. */
  readonly lastError?: { readonly tool: string; readonly code: string };
  /** Tools that were called. */
  readonly tools: ReadonlySet<string>;
  /** Codes with which calls failed. */
  readonly errorCodes: ReadonlySet<string>;
}

type TrailColumns = Omit<TrailTable, 'rules'>;

/** Names of tools that models invent have no end. */
const NAMES_CHARS_MAX = 8_000;
/** Of a call that failed without a code. */
const NO_CODE = 'error';

export const EMPTY_TRAIL: TrailColumns = {
  tools_used: '',
  error_codes: '',
  last_error_tool: null,
  last_error_code: null,
  ended_by: null,
};

export const UNKNOWN_TRAIL: TrailColumns = { ...EMPTY_TRAIL, tools_used: null };

/** A name in a column: no JSON text has a line break. */
export function namePiece(name: string): string {
  return `\n${JSON.stringify(name)}\n`;
}

type OfCall = Extract<RunEvent, { type: 'tool_started' | 'tool_finished' }>;

export function isOfCall(event: RunEvent): event is OfCall {
  return event.type === 'tool_started' || event.type === 'tool_finished';
}

interface FailedCall {
  readonly tool: string;
  readonly code: string;
}

function failedCall(event: OfCall): FailedCall | undefined {
  return event.type === 'tool_finished' && event.status === 'error'
    ? { tool: event.tool, code: event.code ?? NO_CODE }
    : undefined;
}

export function foldTrail(row: RunTable, event: RunEvent): RunTable {
  if (row.tools_used === null) return row;
  if (event.type === 'stop') return { ...row, ended_by: event.by ?? null };
  if (!isOfCall(event)) return row;
  const failed = failedCall(event);
  const tools = withName(row.tools_used, event.tool);
  if (tools.length > NAMES_CHARS_MAX) return { ...row, ...UNKNOWN_TRAIL };
  if (failed === undefined) return { ...row, tools_used: tools };
  return {
    ...row,
    tools_used: tools,
    error_codes: withName(row.error_codes ?? '', failed.code),
    last_error_tool: wellFormed(failed.tool),
    last_error_code: wellFormed(failed.code),
  };
}

function withName(names: string, name: string): string {
  const piece = namePiece(name);
  return names.includes(piece) ? names : names + piece;
}

/**
 * The same as one statement, for what nearly every batch of a run that goes on brings: calls of one tool. `replace` finds a
 * name in both databases, whatever its letters.
 */
export const TRAIL_OF_ONE = `
  tools_used = case
    when replace(tools_used, @tool, '') <> tools_used then tools_used
    when length(tools_used) + length(@tool) > ${NAMES_CHARS_MAX} then null
    else tools_used || @tool end,
  error_codes = case
    when @code = '' or replace(error_codes, @code, '') <> error_codes then error_codes
    else error_codes || @code end,
  last_error_tool = case when @code = '' then last_error_tool else @errorTool end,
  last_error_code = case when @code = '' then last_error_code else @errorCode end`;

/** What it takes; undefined: the calls are of several tools, or failed in several ways. */
export function trailOfOne(calls: readonly OfCall[]) {
  const tools = new Set(calls.map(({ tool }) => tool));
  const failed = calls.flatMap((event) => failedCall(event) ?? []);
  const codes = new Set(failed.map(({ code }) => code));
  if (tools.size !== 1 || codes.size > 1) return undefined;
  const [last] = failed;
  return {
    tool: namePiece([...tools][0]!),
    code: last === undefined ? '' : namePiece(last.code),
    errorTool: last === undefined ? '' : wellFormed(last.tool),
    errorCode: last === undefined ? '' : wellFormed(last.code),
  };
}

/** Undefined: the events have to be asked. */
export function trailIn(row: TrailColumns): StoredTrail | undefined {
  const { tools_used: tools, error_codes: codes, last_error_tool: tool } = row;
  const { last_error_code: code, ended_by: rule } = row;
  if (tools === null) return undefined;
  return {
    ...(rule !== null && { rule }),
    ...(tool !== null && { lastError: { tool, code: code ?? NO_CODE } }),
    tools: namesIn(tools),
    errorCodes: namesIn(codes ?? ''),
  };
}

function namesIn(pieces: string): ReadonlySet<string> {
  const names = pieces.split('\n').filter((piece) => piece !== '');
  return new Set(names.map((piece) => JSON.parse(piece) as string));
}

/**
 * The one result that every call gets.
 * Invariant: `isError` is true exactly for status 'error'.
 */
import type { StoredText } from '../json/json.js';
import type { Attachment } from './attachment.js';

export const TOOL_RESULT_CODES = [
  'unknown_tool',
  'tool_not_allowed',
  'invalid_arguments',
  'hook_denied',
  'permission_denied',
  'approval_rejected',
  'approval_expired',
  'execution_error',
  'timeout',
  'malformed_result',
  'tool_unavailable',
  'budget_exceeded',
  'interrupted',
  'interrupted_mid_execution',
  'outcome_unknown',
  'not_executed',
  'superseded_by_final',
  'skipped_alternative',
  'skipped_dependency_failed',
  'skipped_unresolvable',
  'retryable_error',
  'frozen',
  'limit_exceeded',
] as const;
export type ToolResultCode = (typeof TOOL_RESULT_CODES)[number];

export interface ToolResult {
  readonly callId: string;
  readonly status: 'ok' | 'error' | 'skipped';
  readonly isError: boolean;
  readonly code?: ToolResultCode;
  readonly content: StoredText;
  /** What the tool returned beside it. */
  readonly attachments?: readonly Attachment[];
  /** How many more there were; the result has no room for them. Absent: none. */
  readonly filesLeftOut?: number;
  /** Made by the runtime, not by the tool. */
  readonly synthetic: boolean;
  /** The call was handed to an executor. */
  readonly started: boolean;
  readonly durationMs: number;
  readonly attempts: number;
  readonly idempotencyKey: string;
}

/** Codes that count as denied, for counters and breakers (fixtures, `counters`). */
export const DENIED_CODES: readonly ToolResultCode[] = [
  'tool_not_allowed',
  'hook_denied',
  'permission_denied',
  'approval_rejected',
  'approval_expired',
];
export const INVALID_CODES: readonly ToolResultCode[] = ['unknown_tool', 'invalid_arguments'];
/** A person's doing, no failure of the tool. */
export const INTERRUPTED_CODES: readonly ToolResultCode[] = [
  'interrupted',
  'interrupted_mid_execution',
];
/** Codes of failing infrastructure, for the breaker of C11. */
export const INFRASTRUCTURE_CODES: readonly ToolResultCode[] = [
  'retryable_error',
  'timeout',
  'tool_unavailable',
];

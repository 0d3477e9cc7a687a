/** Results of dataflow calls that are never executed: no failure, but the model sees why (G3, G5). */
import type { OpenRun } from '../../state/run.js';
import type { ToolResult, ToolResultCode } from '../../state/tool-result.js';
import { type Call } from '../../state/call.js';
import { keyOf, wasHandedOver } from '../../step/open-work.js';
import { STATE_PREFIX } from '../../dataflow/state-path.js';

export interface Skip {
  readonly code: Extract<
    ToolResultCode,
    'skipped_alternative' | 'skipped_dependency_failed' | 'skipped_unresolvable'
  >;
  /** The path of the state that it is about. */
  readonly path?: string;
  readonly message: string;
}

const MESSAGE_CHARS_MAX = 500;

export function skippedResult(run: OpenRun, call: Call, skip: Skip): ToolResult {
  const said = {
    status: 'skipped',
    reason: skip.code,
    ...(skip.path !== undefined && { path: `${STATE_PREFIX}${skip.path}` }),
    message: skip.message.slice(0, MESSAGE_CHARS_MAX),
  };
  return {
    callId: call.id,
    status: 'skipped',
    isError: false,
    code: skip.code,
    content: { text: JSON.stringify(said) },
    synthetic: true,
    started: wasHandedOver(call),
    durationMs: 0,
    attempts: call.attempts,
    idempotencyKey: keyOf(run, call),
  };
}

/** The result of a call that was not executed because a rule of the run refuses it. */
import type { Call } from '../state/call.js';
import type { OpenRun } from '../state/run.js';
import type { ToolResult, ToolResultCode } from '../state/tool-result.js';
import { keyOf, wasHandedOver } from '../step/open-work.js';

/** Most characters of a refusal that the model sees. */
const REFUSAL_CHARS = 2_000;

export function refusalOf(
  run: OpenRun,
  call: Call,
  refusal: { readonly code: ToolResultCode; readonly message: string },
): ToolResult {
  return {
    callId: call.id,
    status: 'error',
    isError: true,
    code: refusal.code,
    content: { text: refusal.message.slice(0, REFUSAL_CHARS) },
    synthetic: true,
    started: wasHandedOver(call),
    durationMs: 0,
    attempts: call.attempts,
    idempotencyKey: keyOf(run, call),
  };
}

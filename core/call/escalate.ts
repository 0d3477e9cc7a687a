/**
 * A granted call of kind 'handoff': the model asks for a person (C15, G101). Nothing is executed; the call gets its result
 * and the run stops `needs_human`.
 */
import { domainReason } from '../gates/domain-reason.js';
import { ownValue, type Json } from '../json/json.js';
import type { OpenRun } from '../state/run.js';
import { stop } from '../step/stop.js';
import type { Call } from '../state/call.js';
import { keyOf } from '../step/open-work.js';
import { settleCall } from './result.js';

const REASON_CHARS = 500;

export function escalate(run: OpenRun, call: Call): OpenRun {
  const settled = settleCall(run, call, {
    callId: call.id,
    status: 'skipped',
    isError: false,
    content: { text: 'A person has been asked to take over.' },
    synthetic: true,
    started: false,
    durationMs: 0,
    attempts: 0,
    idempotencyKey: keyOf(run, call),
  });
  const reason = reasonOf(call.args);
  return stop(settled, 'needs_human', {
    detail: domainReason(run, reason) ?? 'escalated',
    nextSafeAction: reason,
  });
}

function reasonOf(args: Json): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return 'No reason was given.';
  const reason = ownValue(args as { readonly [key: string]: Json }, 'reason');
  return typeof reason === 'string' ? reason.slice(0, REASON_CHARS) : 'No reason was given.';
}

/**
 * Idempotency keys: `${taskId}:${step}[:${callIndex}][:r${revision}]`, prefixed by the tenant unless it is
 * 'default' (C28, design §8). Stable over retries, crashes, continue-as-new; a reset repeats them.
 */
import type { Run } from '../state/run.js';
import { revisedKey, type Call } from '../state/call.js';

export function keyOf(run: Run, call: Pick<Call, 'callKey' | 'revision'>): string {
  const key = `${run.taskId}:${revisedKey(call)}`;
  return run.tenant === 'default' ? key : `${run.tenant}/${key}`;
}

/** `step`, or `step:index` in a reply of several calls. */
export function callKeyOf(step: number, index: number, callsInReply: number): string {
  return callsInReply === 1 ? String(step) : `${step}:${index}`;
}

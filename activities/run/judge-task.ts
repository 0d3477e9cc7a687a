/**
 * The gates of configuration and agent on the task of a start, in this order.
 * Invariant: a gate that cannot be asked does not open; only a worker or a run that ends leaves the task unjudged.
 */
import { CancelledFailure } from '@temporalio/common';
import type { TaskGate } from '../../authoring/index.js';
import type { RunRef } from '../../core/state/effect.js';
import type { StartInput } from '../../core/state/task.js';
import { graceOf, type InTransaction } from '../deps.js';
import { failure } from '../failure.js';
import { runOutside } from '../run-outside.js';
import type { Scope } from '../scope.js';
import { messageOf } from '../tool/tool-message.js';

/** Both gates together have less than the time of the activity. */
export const GATE_MS = 20_000;
const REASON_CHARS_MAX = 2_000;
const ERROR_CHARS_MAX = 500;

interface Judged {
  readonly run: RunRef;
  readonly start: StartInput;
}

/** Why nobody may work on the task; undefined: somebody may. */
export async function judgeTask(
  deps: InTransaction,
  scope: Scope,
  { run, start }: Judged,
): Promise<string | undefined> {
  const { config } = deps;
  const gates = [
    ['the configuration', config.refuseTask],
    [`agent ${start.agent}`, config.agents.get(start.agent)?.refuseTask],
  ] as const;
  for (const [owner, gate] of gates) {
    if (gate === undefined) continue;
    const refusal = await ask(deps, scope, { run, start, owner, gate });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

interface TaskQuestion extends Judged {
  readonly owner: string;
  readonly gate: TaskGate;
}

async function ask(
  deps: InTransaction,
  scope: Scope,
  { run: { runId, tenant, traceId }, start: { agent, task }, owner, gate }: TaskQuestion,
): Promise<string | undefined> {
  const ended = await runOutside(deps, scope, {
    run: async (signal) => gate(structuredClone(task), { agent, runId, tenant, traceId, signal }),
    timeoutMs: GATE_MS,
    graceMs: graceOf(deps, GATE_MS),
  });
  const unasked = `The safety gate of ${owner} could not judge this task`;
  switch (ended.kind) {
    case 'timed_out':
      return `${unasked}: it did not answer within ${GATE_MS} ms.`;
    case 'threw':
      return `${unasked}: ${messageOf(ended.error).slice(0, ERROR_CHARS_MAX)}`;
    case 'stopped':
      if (scope.stopRequested()) throw new CancelledFailure('The run wants this no more.');
      throw failure('Aborted', { message: 'This worker is shutting down.', retryable: true });
    case 'returned':
      return reasonOf(ended.value, owner);
  }
}

function reasonOf(said: unknown, owner: string): string | undefined {
  if (said === undefined || said === null) return undefined;
  if (typeof said !== 'string') {
    return `The safety gate of ${owner} could not judge this task: it gave no text.`;
  }
  return said.trim() === ''
    ? `The safety gate of ${owner} refuses this task.`
    : said.slice(0, REASON_CHARS_MAX);
}

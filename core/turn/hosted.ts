/**
 * Tools that the model's vendor runs itself (G48): they are dispatched by nobody here, so whether they may run is
 * decided before they are offered, and what they did is told afterwards.
 * Invariants: a tool that any call of could be denied, or needs a person's word, is never offered; a use counts
 * as no tool call; every use that a reply tells of has its event, or is counted in a warning.
 */
import type { AttemptBound, Reply } from '../state/model.js';
import { emit, warn } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import type { HostedBound, ToolRecord } from '../state/tool.js';

/** What the vendor's tools may add to a request that offers them. */
export function hostedCosts(
  offered: readonly ToolRecord[],
): Pick<AttemptBound, 'inputTokens' | 'fees'> {
  const hosted = offered.flatMap((tool): [string, HostedBound][] =>
    tool.hosted === undefined ? [] : [[tool.wireName, tool.hosted]],
  );
  if (hosted.length === 0) return { inputTokens: 0 };
  const bounds = hosted.map(([, bound]) => bound);
  return {
    inputTokens: bounds.reduce((sum, bound) => sum + bound.inputTokens, 0),
    fees: {
      each: Object.fromEntries(hosted.map(([name, { feeMicroUsd }]) => [name, feeMicroUsd])),
      most: bounds.reduce((sum, { uses, feeMicroUsd }) => sum + uses * feeMicroUsd, 0),
    },
  };
}

/** The trace of what the vendor did: observations, without a start of ours before them. */
export function auditHosted(run: OpenRun, hosted: NonNullable<Reply['hosted']>): OpenRun {
  const told = hosted.calls.reduce<OpenRun>(
    (next, { id, tool, args, isError, content }) =>
      emit(isError ? next : observed(next, tool), {
        type: 'tool_finished',
        callId: id,
        tool,
        hosted: true,
        args,
        status: isError ? 'error' : 'ok',
        ...(isError && { code: 'execution_error' as const }),
        content,
        synthetic: false,
        started: false,
        attempts: 0,
        durationMs: 0,
        key: '',
      }),
    run,
  );
  if (hosted.unlisted === 0) return told;
  return warn(told, 'hosted_calls_unlisted', `${hosted.unlisted} more calls that the vendor ran`);
}

/** It is evidence as any other observation (G22); only predicates cannot be judged on it. */
function observed(run: OpenRun, tool: string): OpenRun {
  return run.evidence.includes(tool) ? run : { ...run, evidence: [...run.evidence, tool] };
}

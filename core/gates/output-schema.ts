/**
 * Gate: the answer of a task with an output schema must conform to it (C33, G8). The model activity has
 * checked it, because no schema runs in a workflow; here its word is used.
 */
import type { OpenRun, Turn } from '../state/run.js';
import { PASS, type GateVerdict } from './gate.js';

export function outputSchemaGate(run: OpenRun, turn: Turn): GateVerdict {
  if (run.frozen.outputSchema === undefined) return PASS;
  const { output } = turn.reply;
  if (output?.ok) return { kind: 'pass', detail: 'output' };
  const defect = output?.message ?? 'it could not be checked';
  if (run.tally.outputRetries >= run.frozen.budget.maxOutputSchemaRetries) {
    return {
      kind: 'stop',
      reason: 'invalid_output',
      words: {
        nextSafeAction: `Fix the output schema or the prompt: ${defect}`.slice(0, 500),
      },
    };
  }
  const tally = { ...run.tally, outputRetries: run.tally.outputRetries + 1 };
  return {
    kind: 'again',
    run: { ...run, tally },
    transition: 'output_schema_retry',
    prompt: `Your answer does not match the required output schema: ${defect}\nAnswer again with JSON alone that matches it.`,
  };
}

/**
 * The scripted summaries of a case, in order, the last one again and again. Without a script a summary
 * always succeeds, however short the history is, and leaves a tenth of the context.
 */
import type { CompactInput } from '../../core/state/effect.js';
import { NO_USAGE } from '../../core/state/model.js';
import { type ModelReply, modelFailure } from '../../providers/provider.js';
import type { ScriptedSummary } from '../fixture.js';

const SHARE_LEFT = 1 / 10;
const UNSCRIPTED: ScriptedSummary = {
  kind: 'summary',
  usage: { ...NO_USAGE, input: 1_000, output: 100 },
};

export interface Summaries {
  /** The reply to the request for the run's summary of this number, from 1. */
  reply(number: number, model: string): ModelReply;
  /** Tokens of the context after it. */
  sizeAfter(input: Pick<CompactInput, 'number' | 'preTokens'>): number;
}

export function scriptedSummaries(script: readonly ScriptedSummary[]): Summaries {
  const at = (number: number): ScriptedSummary =>
    script[Math.min(number, script.length) - 1] ?? UNSCRIPTED;
  return {
    reply(number, model) {
      const entry = at(number);
      if (entry.kind === 'error') throw failed(entry.message);
      const text = entry.text ?? `Summary ${number}.`;
      return {
        blocks: [{ type: 'text', text }],
        raw: [{ type: 'text', text }],
        stop: 'end_turn',
        usage: entry.usage,
        usageSource: 'reported',
        model,
        incompleteCalls: 0,
      };
    },
    sizeAfter({ number, preTokens }) {
      const entry = at(number);
      const scripted = entry.kind === 'summary' ? entry.tokens : undefined;
      return scripted ?? Math.floor(preTokens * SHARE_LEFT);
    },
  };
}

function failed(message: string) {
  return modelFailure('InvalidRequest', `The scripted summary failed: ${message}`, {
    receivedInput: false,
    receivedOutputTokensEstimate: 0,
    shouldRetry: false,
  });
}

/**
 * Sees an activity's result come back from the server, on its way into the workflow: a codec that changes
 * nothing. When it passes, the server has it, and the run has not decided anything from it.
 */
import type { PayloadCodec } from '@temporalio/common';
import type { Passage } from './watched-deps.js';

export interface OutcomeWatch {
  readonly codec: PayloadCodec;
  /** This result is about to leave. */
  expect(runId: string, output: unknown): void;
}

/** Results that may be on their way at once; older ones were never heard of again. */
const EXPECTED_MAX = 200;

export function outcomeWatch(passed: Passage): OutcomeWatch {
  const expected = new Map<string, string>();
  return {
    codec: {
      encode: (payloads) => Promise.resolve(payloads),
      decode: (payloads) => {
        for (const { data } of payloads) {
          if (data == null || expected.size === 0) continue;
          const text = Buffer.from(data).toString('utf8');
          const runId = expected.get(text);
          if (runId === undefined) continue;
          expected.delete(text);
          passed('after-completion', runId);
        }
        return Promise.resolve(payloads);
      },
    },
    expect(runId, output) {
      expected.set(JSON.stringify(output), runId);
      const oldest = expected.keys().next();
      if (expected.size > EXPECTED_MAX && oldest.done !== true) expected.delete(oldest.value);
    },
  };
}

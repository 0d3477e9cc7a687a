/** What is written down of a request whose reply broke off: an estimate, never nothing, and no call (G25). */
import { frame } from '../../providers/scripted/render.js';
import type { ScriptedReply } from '../../providers/scripted/script.js';
import {
  attempt,
  effect,
  EXECUTION,
  failureFrom,
  modelInput,
  openedHead,
  RUN,
  startBed,
  type Bed,
} from './setup.js';

const START = frame('message_start', {
  message: { type: 'message', model: 'm', content: [], usage: { input_tokens: 40 } },
});
const CALL_BEGUN = [
  frame('content_block_start', {
    index: 0,
    content_block: { type: 'tool_use', id: 'c', name: 'pay', input: {} },
  }),
  frame('content_block_delta', {
    index: 0,
    delta: { type: 'input_json_delta', partial_json: '{"to":"someone","cents":500}' },
  }),
].join('');
const CALL = CALL_BEGUN + frame('content_block_stop', { index: 0 });
const END = frame('message_delta', {
  delta: { stop_reason: 'tool_use' },
  usage: { output_tokens: 20 },
});
const STOP = frame('message_stop', {});
const ERROR = frame('error', { error: { type: 'overloaded_error', message: 'busy' } });

/** Of three cuts in a row at least two are within a character, which has three bytes. */
const cutInText = (cutAfterBytes: number) => ({ text: '世界'.repeat(500), cutAfterBytes });

const STREAMS: readonly (readonly [string, ScriptedReply, string])[] = [
  ['without message_stop', { garbage: START + CALL + END }, 'NetworkTimeout'],
  ['cut before the stop reason', { garbage: START + CALL }, 'NetworkTimeout'],
  ['cut within a call', { garbage: START + CALL_BEGUN }, 'NetworkTimeout'],
  ['cut within an event', { garbage: START + CALL_BEGUN.slice(0, -30) }, 'NetworkTimeout'],
  ...[1_000, 1_001, 1_002].map(
    (at) => [`cut after ${at} bytes of characters`, cutInText(at), 'NetworkTimeout'] as const,
  ),
  [
    'with a second beginning',
    { garbage: START + CALL + START + CALL + END + STOP },
    'MalformedReply',
  ],
  ['with a call that never ended', { garbage: START + CALL_BEGUN + END + STOP }, 'MalformedReply'],
  ['with an error after a call', { garbage: START + CALL + ERROR }, 'Overloaded'],
];

let bed: Bed;
afterEach(() => bed.end());

test.each(STREAMS)('a stream %s brings no call and is estimated', async (_, reply, code) => {
  bed = await startBed({ replies: [reply] });
  const info = effect();
  const input = modelInput(await openedHead(bed));
  const failure = await failureFrom(attempt(bed.activities().call_model, input, info));
  expect(failure).toMatchObject({ type: code, nonRetryable: false });
  const rows = await bed.store.listAttempts(
    RUN.tenant,
    RUN.runId,
    `${info.activityId}@${EXECUTION}`,
  );
  expect(rows).toMatchObject([
    {
      end: { outcome: 'failed', code, estimated: true, usage: { input: input.bound.inputTokens } },
    },
  ]);
  expect(rows[0]?.end?.costMicroUsd).toBeGreaterThan(0);
  const spent = failure.details?.[0] as { readonly lostCostMicroUsd: number } | undefined;
  expect(spent?.lostCostMicroUsd).toBe(rows[0]?.end?.costMicroUsd);
});

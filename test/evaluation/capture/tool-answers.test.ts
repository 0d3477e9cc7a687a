/** What a tool of a case answers in the place of a recorded attempt. */
import type { Activity, Recording } from '../../../evaluation/capture/recording.js';
import { Texts } from '../../../evaluation/capture/texts.js';
import { answerOf } from '../../../evaluation/capture/tool-answers.js';
import type { Json } from '../../../core/json/json.js';
import type { ToolCallRef } from '../../../core/state/effect.js';
import type { Finding } from '../../../core/state/recovery.js';

const CALL = { callId: 'c1', callKey: '1', key: 'run_1:1', tool: 'ship.book' } as ToolCallRef;
const TEXT = 'Nothing was done: 2 attempts ended without an answer, none took effect.';
const FINISHED = { type: 'tool_finished', code: 'execution_error', content: { text: TEXT } };

function activity(kind: Activity['kind'], from: number, output: object): Activity {
  const end = { kind: 'completed', output: output as Json } as const;
  const input = { call: CALL } as unknown as Json;
  return { kind, input, end, from, to: from + 1, begunAt: 0, tookMs: 0 };
}

const lost = (from: number) =>
  activity('execute_tool', from, { outcome: { kind: 'ambiguous', message: 'reset' } });
const found = (from: number, finding: Finding) => activity('reconcile_tool', from, { finding });

function answersTo(activities: readonly Activity[], events: readonly object[]) {
  const recording = { activities, bundle: { events } } as unknown as Recording;
  return activities
    .filter(({ kind }) => kind === 'execute_tool')
    .map((one) => answerOf({ recording, activity: one, texts: new Texts({}), call: CALL }));
}

describe('an attempt of which a probe said that it did nothing', () => {
  const nothing = { kind: 'not_happened' } as Finding;

  test('leaves the answer to the attempt that followed', () => {
    const ok = activity('execute_tool', 4, { outcome: { kind: 'ok', content: { text: 'done' } } });
    expect(answersTo([lost(0), found(2, nothing), ok], [])).toEqual([
      undefined,
      { result: { ok: 'done' } },
    ]);
  });

  test('answers what the call ended with when none followed', () => {
    const activities = [lost(0), found(2, nothing), lost(4), found(6, nothing)];
    const [first, second] = answersTo(activities, [{ ...FINISHED, key: CALL.key }]);
    expect(first).toBeUndefined();
    expect(second?.result).toEqual({ error: TEXT });
  });
});

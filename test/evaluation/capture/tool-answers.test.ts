/** What a tool of a captured case answers where the record has no answer of the tool itself. */
import { answerOf } from '../../../evaluation/capture/tool-answers.js';
import { Texts } from '../../../evaluation/capture/texts.js';
import type { Activity, Recording } from '../../../evaluation/capture/recording.js';
import type { Json } from '../../../core/json/json.js';
import type { ToolCallRef } from '../../../core/state/effect.js';

const CALL = {
  callId: 'a',
  callKey: '0',
  key: 'run:0',
  tool: 'ship.book',
} as unknown as ToolCallRef;
const NOTHING = 'Nothing was done: 2 attempts ended without an answer, none took effect.';

function ended(kind: Activity['kind'], from: number, output: Json): Activity {
  const end = { kind: 'completed', output } as const;
  const input = { call: CALL as unknown as Json };
  return { kind, input, end, from, to: from, begunAt: from, tookMs: 0 };
}

const inDoubt = (from: number): Activity =>
  ended('execute_tool', from, { outcome: { kind: 'ambiguous', message: 'connection reset' } });
const didNothing = (from: number): Activity =>
  ended('reconcile_tool', from, { finding: { kind: 'not_happened' } });

function recordingOf(activities: readonly Activity[], code: string): Recording {
  const events = [
    { type: 'tool_finished', callId: 'a', key: 'run:0', code, content: { text: NOTHING } },
  ];
  return { activities, bundle: { events, redactions: [] } } as unknown as Recording;
}

function answersIn(activities: readonly Activity[], code = 'execution_error') {
  const recording = recordingOf(activities, code);
  const asked = { recording, texts: new Texts({}), call: CALL };
  return activities
    .filter(({ kind }) => kind === 'execute_tool')
    .map((activity) => answerOf({ ...asked, activity }));
}

test('attempts that all did nothing are answered once, with what the call ended with', () => {
  const twice = [inDoubt(1), didNothing(2), inDoubt(3), didNothing(4)];
  expect(answersIn(twice)).toEqual([
    undefined,
    { result: { error: NOTHING }, leftOut: expect.stringContaining('found out of it') },
  ]);
});

test('where the run ended meanwhile, an attempt that did nothing has no answer', () => {
  expect(answersIn([inDoubt(1), didNothing(2)], 'user_interrupted')).toEqual([undefined]);
});

test('a result that was not kept is refused by its tool, its call and the reason', () => {
  const message = "The tool's result is not JSON: a is NaN, which JSON cannot hold.";
  const outcome = { kind: 'error', code: 'malformed_result', message } as const;
  expect(() => answersIn([ended('execute_tool', 1, { outcome })])).toThrow(
    "what ship.book returned to the call a was not kept (The tool's result is not JSON: a is NaN, which JSON cannot hold).",
  );
});

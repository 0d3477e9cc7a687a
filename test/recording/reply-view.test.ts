/** Which reply a moment shows, and beside which request. */
import type { Fold } from '../../recording/fold.js';
import { shownReply } from '../../recording/reply-view.js';

/** Steps by what they do: `r1` receives the reply to request 1, `q1` begins that request. */
function foldedAs(...steps: readonly string[]): Fold {
  const lines = steps.map((step) => {
    const given = [...step.matchAll(/r(\d)/g)].map(([, call]) => ({
      type: 'model_replied',
      id: `call_model-${call}`,
      output: { reply: { stop: 'end_turn', calls: [] } },
    }));
    const effects = [...step.matchAll(/q(\d)/g)].map(([, call]) => ({
      kind: 'call_model',
      id: `call_model-${call}`,
      call: Number(call),
    }));
    return { inputs: given, effects, given };
  });
  return { kind: 'run', steps: lines, at: (step: number) => lines[step - 1] } as unknown as Fold;
}

test.each([
  ['a reply stands beside the request that it answers', ['q1', 'r1'], 2, 1, 1, undefined],
  ['the steps behind it show it as well', ['q1', 'r1', '', ''], 4, 1, 1, undefined],
  ['a step with the next request names the one that the reply answers', ['q1', 'r1q2'], 2, 2, 1, 1],
  ['the step behind such a one has no reply', ['q1', 'r1q2', ''], 3, 2, undefined, undefined],
  ['a late reply to an older request names that', ['q1', 'q2', 'r1'], 3, 2, 1, 1],
  ['before the first request there is none', ['', 'q1'], 1, undefined, undefined, undefined],
] as const)('%s', (_says, steps, step, newest, reply, answered) => {
  const place = (call: number) => ({
    step: steps.findIndex((one) => one.includes(`q${call}`)) + 1,
    call,
  });
  const shown = shownReply(foldedAs(...steps), step, newest && place(newest));
  expect(shown.reply?.call).toBe(reply);
  expect(shown.answered).toEqual(answered && place(answered));
});

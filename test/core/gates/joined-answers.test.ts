/** An answer that comes in several replies is one answer (G100). */
import { CHANGES } from '../../../core/step/changes.js';
import { call, calls, says, usage, withReply, type Script } from '../script.js';
import {
  createShell,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  transitionsOf,
  until,
} from '../shell.js';

const cut = (text: string) => says(text, { stop: 'max_tokens' });

function resultOf(script: Partial<Script>) {
  return finish(createShell({ model: [], ...script }));
}

test('the parts of an answer that was cut off are joined in their order', () => {
  expect(resultOf({ model: [cut('The parcel '), cut('left on '), says('Monday.')] })).toMatchObject(
    { stopReason: 'completed', answer: { text: 'The parcel left on Monday.' } },
  );
});

test('a paused reply is the beginning of the answer', () => {
  const model = [says('Searching. ', { stop: 'pause_turn' }), says('It is late.')];
  expect(resultOf({ model }).answer).toEqual({ text: 'Searching. It is late.' });
});

test('Stop hooks are told the whole answer', () => {
  const shell = createShell({
    model: [cut('The parcel '), says('is late.')],
    hookNames: { Stop: ['judge'] },
  });
  finish(shell);
  const [asked] = started(shell, 'run_hooks');
  expect(asked).toMatchObject({ input: { payload: { response: 'The parcel is late.' } } });
});

test('a criterion looks at the whole answer', () => {
  const when = { path: 'answer', equals: 'The parcel is late.' };
  const task = { successCriteria: [{ id: 'said', when }] };
  expect(resultOf({ task, model: [cut('The parcel '), says('is late.')] }).stopReason).toBe(
    'completed',
  );
});

test('an answer that was sent back starts anew', () => {
  const result = resultOf({
    model: [cut('a'), says('b'), cut('c'), says('d')],
    hookNames: { Stop: ['judge'] },
    hooks: { judge: [{ blockingErrors: ['again'] }] },
  });
  expect(result.answer).toEqual({ text: 'cd' });
});

test('a run that stops shows all that it said of its answer', () => {
  const result = resultOf({
    model: [says('a', { stop: 'pause_turn' }), cut('b')],
    settings: { maxTokensStrategy: 'stop' },
  });
  expect(result).toMatchObject({ stopReason: 'max_tokens', partialOutput: { text: 'ab' } });
});

test('a remark beside calls, whole or cut off, is no part of the answer', () => {
  const remark = withReply(calls(call('a', 'read_order')), { text: { text: 'Let me look. ' } });
  expect(resultOf({ model: [cut('a'), remark, says('b')] }).answer).toEqual({ text: 'b' });
  const torn = says('Let me note. ', { stop: 'max_tokens', cutCalls: 1 });
  expect(resultOf({ model: [torn, says('b')] }).answer).toEqual({ text: 'b' });
});

test('what a summary took away is said anew, what it left goes on', () => {
  const script: Script = {
    model: [cut('a'), withReply(cut('b'), usage(2_000, 100)), says('c')],
    settings: { maxTokensStrategy: 'compact_first' },
    budget: { maxReactiveCompactions: 2 },
  };
  const once = { ...script, budget: { maxReactiveCompactions: 1 } };
  expect(resultOf({ ...once, model: [cut('a'), says('b')] }).answer).toEqual({ text: 'b' });
  const settings = { maxTokensStrategy: 'auto' } as const;
  const small = { contextWindow: 2_400, settings, budget: { compactionThreshold: 0.6 } };
  const kept = createShell({ ...script, ...small, compactions: [{ answerKept: true }] });
  expect(finish(kept).answer).toEqual({ text: 'ac' });
  expect(transitionsOf(kept)).toEqual(['max_output_tokens_recovery', 'max_tokens_compact_retry']);
  const lost = createShell({ ...script, ...small });
  expect(finish(lost).answer).toEqual({ text: 'c' });
});

test('a pause by a person ends the answer that it interrupts', () => {
  const shell = createShell({
    model: [cut('a'), { ...says('b'), delayMs: 1_000 }, says('c')],
    settings: { interruptMode: 'pause', afterAnswer: 'await_user' },
  });
  until(shell, 'transition');
  send(shell, { type: 'interrupt' });
  settle(shell);
  send(shell, { type: 'user_message', text: 'Something else.' });
  settle(shell);
  expect(shell.run.lastAnswer).toEqual({ text: 'c' });
});

test('of a worker that joins nothing yet the run joins the parts itself, as far as it has them', () => {
  const olderWorkers = true;
  expect(resultOf({ olderWorkers, model: [cut('a'), cut('b'), says('c')] }).answer).toEqual({
    text: 'abc',
  });
  const long = 'x'.repeat(4_096);
  expect(resultOf({ olderWorkers, model: [cut(long), says('c')] }).answer).toEqual({ text: 'c' });
});

test('runs of older rules take the last part alone', () => {
  const shell = createShell({
    model: [cut('a'), says('b')],
    rules: CHANGES.joinedAnswers.since - 1,
  });
  expect(finish(shell).answer).toEqual({ text: 'b' });
  expect(requestsOf(shell).every((request) => !('before' in request))).toBe(true);
  expect(ofType(shell, 'model_response')).toHaveLength(2);
});

import type { OutputCheck } from '../../../core/state/model.js';
import { call, calls, says, type Script } from '../script.js';
import { createShell, finish, ofType, requestsOf, send, settle, transitionsOf } from '../shell.js';
import { lettersOf } from '../transcript.js';

const SCHEMA = { type: 'object', required: ['total'] };
const GOOD: OutputCheck = { ok: true, value: { total: 3 } };
const BAD: OutputCheck = { ok: false, message: 'total is missing' };

function answer(output: OutputCheck) {
  return says(JSON.stringify(output.ok ? output.value : {}), { output });
}

function play(model: Script['model'], more: Partial<Script> = {}) {
  return createShell({ model, ...more, task: { outputSchema: SCHEMA, ...more.task } });
}

test('S127: an answer that conforms is the output of the run', () => {
  const shell = play([calls(call('a', 'read_order')), answer(GOOD)]);
  expect(finish(shell)).toMatchObject({
    stopReason: 'completed',
    detail: 'output',
    output: { total: 3 },
    answer: { text: '{"total":3}' },
  });
});

test('the model activity gets the schema with every request, the run keeps it by reference', () => {
  const shell = play([calls(call('a', 'read_order')), answer(GOOD)]);
  finish(shell);
  const text = JSON.stringify(SCHEMA);
  expect(requestsOf(shell).map((request) => request.outputSchema)).toEqual([{ text }, { text }]);
  expect(shell.run.start.task.outputSchema).toBeUndefined();
});

test('S128: wrong answers are corrected twice, then the right one completes', () => {
  const shell = play([answer(BAD), answer(BAD), answer(GOOD)]);
  expect(finish(shell)).toMatchObject({
    stopReason: 'completed',
    output: { total: 3 },
    counters: { modelCalls: 3, turnCount: 1 },
  });
  expect(transitionsOf(shell)).toEqual(['output_schema_retry', 'output_schema_retry']);
  expect(lettersOf(shell.transcript)).toBe('U A U A U A');
  expect(shell.transcript.messages[2]?.text).toContain('total is missing');
});

test('S128: the third wrong answer fails the run', () => {
  const shell = play([answer(BAD), answer(BAD), answer(BAD), answer(GOOD)]);
  expect(finish(shell)).toMatchObject({
    status: 'failed',
    stopReason: 'invalid_output',
    partialOutput: { text: '{}' },
    nextSafeAction: expect.stringContaining('total is missing'),
  });
  expect(finish(shell).output).toBeUndefined();
  expect(ofType(shell, 'validation').at(-1)?.decision).toBe('deny');
});

test('an answer that nobody has checked does not pass', () => {
  const shell = play([says('{}')], { budget: { maxOutputSchemaRetries: 0 } });
  expect(finish(shell).stopReason).toBe('invalid_output');
});

test('an empty answer is empty first', () => {
  const shell = play([says(' ', { output: BAD }), answer(GOOD)]);
  finish(shell);
  expect(transitionsOf(shell)).toEqual(['empty_response_retry']);
});

test('evidence is asked for only when the output conforms', () => {
  const requiredEvidence = [{ id: 'order', satisfiedBy: 'read_order' }];
  const shell = play([answer(BAD), answer(GOOD), answer(GOOD)], { task: { requiredEvidence } });
  expect(finish(shell).stopReason).toBe('evidence_missing');
  expect(transitionsOf(shell)).toEqual(['output_schema_retry', 'completion_rejected']);
});

test('every question of a conversation has corrections of its own', () => {
  const shell = play([answer(BAD), answer(GOOD), answer(BAD), answer(BAD), answer(GOOD)], {
    settings: { afterAnswer: 'await_user' },
  });
  settle(shell);
  send(shell, { type: 'user_message', text: 'next' });
  settle(shell);
  send(shell, { type: 'close' });
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', output: { total: 3 } });
});

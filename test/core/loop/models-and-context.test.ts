/** Summaries beside what happens to models: another one, a pause, a last word. */
import { call, calls, exhaustedBy, says, usage, type Script } from '../script.js';
import { createShell, finish, ofType, requestsOf, send, settle, started, until } from '../shell.js';

/** The first reply fills the window to more than the threshold. */
const FULL = {
  ...calls(call('a', 'read_order')),
  reply: { ...calls(call('a', 'read_order')).reply, ...usage(1_600, 100) },
};
const NARROW: Partial<Script> = {
  contextWindow: 2_000,
  promptBytes: 2_000,
  compactions: [{ tokens: 100, usage: usage(1_000, 10).usage }],
};

test('G76: a model with a smaller window gets a summary before it is asked, at its own price', () => {
  const shell = createShell({
    ...NARROW,
    contextWindow: 200_000,
    routes: {
      'scripted/small': {
        contextWindow: 2_000,
        prices: { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 },
      },
    },
    model: [FULL, says('42', usage(0, 0))],
  });
  until(shell, 'tool_started');
  send(shell, { type: 'set_model', model: 'scripted/small' });
  const result = finish(shell);
  expect(result.stopReason).toBe('completed');
  expect(started(shell, 'compact').map(({ input }) => input.route.model)).toEqual(['small']);
  expect(result.costMicroUsd).toBe(1_600 * 3 + 100 * 15 + 1_000);
});

test('a pause ends a summary; the run goes on with or without it', () => {
  const shell = createShell({
    ...NARROW,
    settings: { interruptMode: 'pause' },
    model: [FULL, says('42')],
  });
  until(shell, 'tool_results_message');
  expect(started(shell, 'compact')).toHaveLength(1);
  send(shell, { type: 'interrupt' });
  settle(shell);
  expect(ofType(shell, 'compact_boundary')).toEqual([]);
  send(shell, { type: 'user_message', text: 'go on' });
  expect(finish(shell).stopReason).toBe('completed');
});

test('a pause in the middle of a summary that the run needs: it is made when the run goes on', () => {
  const shell = createShell({
    ...NARROW,
    contextWindow: 200_000,
    settings: { interruptMode: 'pause' },
    model: [exhaustedBy('PromptTooLong'), says('42')],
  });
  until(shell, 'model_error');
  expect(started(shell, 'compact')).toHaveLength(1);
  send(shell, { type: 'interrupt' });
  settle(shell);
  send(shell, { type: 'user_message', text: 'go on' });
  expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
  expect(started(shell, 'compact')).toHaveLength(2);
});

test('a last word is not worth a summary', () => {
  const shell = createShell({
    ...NARROW,
    settings: { wrapUpTurn: true },
    budget: { maxToolCalls: 1 },
    model: [FULL, says('summary')],
  });
  expect(finish(shell)).toMatchObject({
    stopReason: 'max_tool_calls',
    partialOutput: { text: 'summary' },
  });
  expect(started(shell, 'compact')).toEqual([]);
  expect(requestsOf(shell)).toHaveLength(2);
});

test('a last word for which the context is too long is none', () => {
  const shell = createShell({
    settings: { wrapUpTurn: true },
    budget: { maxToolCalls: 1 },
    model: [calls(call('a', 'read_order')), exhaustedBy('PromptTooLong'), says('late')],
  });
  expect(finish(shell).stopReason).toBe('max_tool_calls');
  expect(started(shell, 'compact')).toEqual([]);
});

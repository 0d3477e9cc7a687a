/** One logical model call, however many attempts it took (S95–S99). */
import { modelRetries } from '../../../core/money/budget.js';
import type { Failure } from '../../../core/state/failure.js';
import type { Frozen } from '../../../core/state/frozen.js';
import { call, calls, failure, says } from '../script.js';
import { createShell, finish, ofType, requestsOf, until } from '../shell.js';

const RETRIED = [
  { attempt: 2, class: 'RateLimited' },
  { attempt: 3, class: 'Overloaded' },
];

test('S95: attempts are told before the reply, and count as one call', () => {
  const shell = createShell({ model: [{ ...says('42'), attempts: 3, retried: RETRIED }] });
  expect(finish(shell).counters.modelCalls).toBe(1);
  expect(ofType(shell, 'retry')).toMatchObject(RETRIED.map((one) => ({ call: 1, ...one })));
  const types = shell.events.map((event) => event.type);
  expect(types.lastIndexOf('retry')).toBeLessThan(types.indexOf('model_response'));
  expect(ofType(shell, 'model_response')).toHaveLength(1);
});

test('a failure for good names its class and all attempts, after the retries', () => {
  const details = { attempts: 3, retried: RETRIED, lostCostMicroUsd: 0 };
  const shell = createShell({ model: [failure('Overloaded', { details })] });
  expect(finish(shell)).toMatchObject({
    stopReason: 'failed',
    detail: 'model_error:Overloaded',
    counters: { modelCalls: 0 },
  });
  expect(ofType(shell, 'model_error')).toMatchObject([{ class: 'Overloaded', attempts: 3 }]);
  expect(ofType(shell, 'retry')).toHaveLength(2);
});

test.each(['many', [1, null, 'x'], [{ attempt: 'two', class: 7 }], { attempt: 2 }])(
  'details that make no sense (%j) tell of no retries',
  (retried) => {
    const details = { attempts: 1, retried, lostCostMicroUsd: 0 };
    const shell = createShell({ model: [failure('AuthError', { details })] });
    finish(shell);
    expect(ofType(shell, 'retry')).toEqual([]);
  },
);

test('C27: server errors are tried again three times, everything else as the budget says', () => {
  const model = [calls(call('a', 'read_order')), says('42')];
  const shell = createShell({ model });
  finish(shell);
  expect(requestsOf(shell)[0]?.maxRetries).toEqual({ serverError: 3, other: 6 });
  const few = createShell({ model, budget: { maxRetriesPerModelCall: 2 } });
  finish(few);
  expect(requestsOf(few)[0]?.maxRetries).toEqual({ serverError: 2, other: 2 });
});

test.each([
  { serverErrors: 0, all: 6, tried: 0 },
  { serverErrors: 5, all: 6, tried: 5 },
  { serverErrors: 5, all: 2, tried: 2 },
])('C27: of $serverErrors retries of server errors and $all of any, $tried are made', (limits) => {
  const budget = { maxServerErrorRetries: limits.serverErrors, maxRetriesPerModelCall: limits.all };
  const shell = createShell({ model: [says('42')], budget });
  finish(shell);
  const { tried: serverError, all: other } = limits;
  expect(requestsOf(shell)[0]?.maxRetries).toEqual({ serverError, other });
});

test('C27: a run that was opened before the number was a setting keeps to three', () => {
  const shell = createShell({ model: [says('42')] });
  until(shell, 'session_init');
  const { maxServerErrorRetries: _, ...budget } = shell.run.frozen!.budget;
  const before = { ...shell.run.frozen, budget } as Frozen;
  expect(modelRetries({ ...shell.run, frozen: before }).serverError).toBe(3);
});

test('an error that left no time for another attempt is named, not the time', () => {
  const told = { attempts: 3, lostCostMicroUsd: 0 };
  const ended = (details?: Failure['details'], rules = 3) => {
    const cut = { timedOut: true, ...(details && { details }) };
    const shell = createShell({ model: [failure('Internal', cut)] });
    until(shell, 'session_init');
    shell.run = { ...shell.run, rules };
    return { detail: finish(shell).detail, attempts: ofType(shell, 'model_error')[0]?.attempts };
  };
  expect(ended(told)).toEqual({ detail: 'model_error:Internal', attempts: 3 });
  expect(ended(undefined)).toMatchObject({ detail: 'model_error:NetworkTimeout' });
  expect(ended(told, 2)).toMatchObject({ detail: 'model_error:NetworkTimeout' });
});

describe('what to do next', () => {
  const next = (code: 'AuthError' | 'NetworkTimeout', hint?: unknown) => {
    const details = { attempts: 1, lostCostMicroUsd: 0, ...(hint !== undefined && { hint }) };
    return finish(createShell({ model: [failure(code, { details })] })).nextSafeAction;
  };

  test('is what the failure itself says, as one bounded line', () => {
    expect(next('AuthError', 'Set VLLM_KEY for the worker and restart it.')).toBe(
      'Set VLLM_KEY for the worker and restart it.',
    );
    expect(next('NetworkTimeout', 'Check the base URL.')).toBe('Check the base URL.');
    expect(next('NetworkTimeout', 'x'.repeat(5_000))).toBe('x'.repeat(300));
  });

  test.each([undefined, '', ' ', 7, { text: 'x' }, 'two\nlines', '\u001b[31mred'])(
    'is the usual sentence where the failure says %j',
    (hint) => {
      expect(next('AuthError', hint)).toMatch(/^Set a valid API key/);
      expect(next('NetworkTimeout', hint)).toBe('Try again later.');
    },
  );

  test('stays as it was for a run of earlier rules', () => {
    const details = { attempts: 1, lostCostMicroUsd: 0, hint: 'Check the base URL.' };
    const shell = createShell({ model: [failure('NetworkTimeout', { details })] });
    until(shell, 'session_init');
    shell.run = { ...shell.run, rules: 2 };
    expect(finish(shell).nextSafeAction).toBe('Try again later.');
  });
});

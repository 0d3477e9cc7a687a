import type { RunEvent } from '../../core/state/event.js';
import type { RunResult } from '../../core/state/result.js';
import { knownAfter, nextActionAfter, NOTHING_KNOWN } from '../../pure/next-action.js';
import { call, calls, says, type Script } from '../core/script.js';
import { createShell, finish, send, settle } from '../core/shell.js';

const START = "start a new run with `holdfast start case 'TASK'`.";
const SESSION = { id: 's', base: 0, kept: true };

function interrupted(more: Partial<Script> = {}) {
  const shell = settle(
    createShell({
      policy: [{ tool: 'send_email', decision: 'allow' }],
      model: [calls(call('a', 'send_email', { text: 'hi' })), says('done')],
      outcomes: { send_email: [{ ambiguous: 'reset' }] },
      ...more,
    }),
  );
  send(shell, { type: 'interrupt' });
  return { result: finish(shell), events: shell.events };
}

const after = (result: RunResult, events: readonly RunEvent[]) =>
  nextActionAfter(result, events.reduce(knownAfter, NOTHING_KNOWN));

const quiet = { model: [calls(call('a', 'issue_refund', { order: '1' }))] };

test('a run that keeps no session sends nobody to one', () => {
  const { result, events } = interrupted(quiet);
  expect(after(result, events)).toBe(`The run keeps no session: ${START}`);
});

test('a run that keeps a session is resumed', () => {
  const { result, events } = interrupted({ ...quiet, session: SESSION });
  expect(after(result, events)).toBe('Resume the session with a new run.');
});

test('a person looks first where nobody knows whether a call took effect', () => {
  const { result, events } = interrupted();
  const look = 'A person must find out first whether send_email with key case:0 took effect.';
  expect(after(result, events)).toBe(`${look} The run keeps no session: ${START}`);
  const kept = interrupted({ session: SESSION });
  expect(after(kept.result, kept.events)).toBe(`${look} Resume the session with a new run.`);
});

test('a sub-agent is not started by itself', () => {
  const { result, events } = interrupted(quiet);
  const parent = { runId: 'up', callId: 'a', root: 'up', path: ['up', 'case'] };
  const below = events.map((event) =>
    event.type === 'session_init' ? { ...event, parent } : event,
  );
  expect(after(result, below)).toBe('The run keeps no session: start a new run.');
});

test('any other stop keeps the words of its result', () => {
  const shell = createShell({ model: [says('late')], budget: { maxCostMicroUsd: 0 } });
  const result = finish(shell);
  expect(result.nextSafeAction).toContain('larger budget');
  expect(after(result, shell.events)).toBe(result.nextSafeAction);
});

test.each([
  ['keeps a session', { session: SESSION }, 'Resume the session with a new run.'],
  ['keeps none', {}, 'Start a new run.'],
  ['keeps none, under rules 23', { rules: 23 }, 'Resume the session with a new run.'],
])('the result of a stopped run that %s says what to do', (_what, more, says) => {
  expect(interrupted({ ...quiet, ...more }).result.nextSafeAction).toBe(says);
});

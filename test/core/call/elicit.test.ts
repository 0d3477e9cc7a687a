/** A server asks a person in the middle of a call: who may answer, and what is kept of the question. */
import { call, calls, says, tool, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  finish,
  ofType,
  send,
  settle,
  type Shell,
} from '../shell.js';

const DELETES = tool('delete_order', {
  effect: 'delete',
  idempotency: 'none',
  approval: { roles: ['lead'], quorum: 1 },
});

function asked(script: Partial<Script> = {}): Shell {
  const shell = createShell({
    task: { caller: 'eve' },
    tools: [DELETES, tool('read_order')],
    model: [calls(call('a', 'delete_order')), says('done')],
    outcomes: {
      delete_order: [{ asks: 'Really?' }, { ok: 'gone' }],
      read_order: [{ asks: 'Which?' }],
    },
    ...script,
  });
  return settle(shell);
}

function say(shell: Shell, by: string, roles: readonly string[]): void {
  const { askId } = askOf(shell);
  send(shell, { type: 'input_provided', askId, value: { yes: true }, by, roles });
}

test('of a call that changes something the roles of its approval answer, and not for whom it is done', () => {
  const shell = asked();
  answer(shell, { by: 'ada', roles: ['lead'] });
  settle(shell);
  say(shell, 'eve', ['lead']);
  say(shell, 'bob', []);
  expect(askOf(shell).elicitation?.message).toBe('Really?');
  say(shell, 'ada', ['lead']);
  expect(shell.run.asks.every(({ elicitation, question }) => !elicitation && !question)).toBe(true);
  expect(finish(shell).stopReason).toBe('completed');
  expect(codesOf(shell)).toEqual({ a: 'ok' });
});

test('of a call that only reads anybody answers', () => {
  const shell = asked({ model: [calls(call('a', 'read_order')), says('done')] });
  expect(askOf(shell)).not.toHaveProperty('answeredBy');
  expect(askOf(shell).roles).toEqual([]);
});

test('a run whose decisions must be signed does not let a server ask before it changes something', () => {
  const shell = asked({
    tools: [{ ...DELETES, approval: 'never' }],
    settings: { requireProof: true },
  });
  expect(ofType(shell, 'input_request')).toEqual([]);
  expect(codesOf(shell)).toEqual({ a: 'execution_error' });
});

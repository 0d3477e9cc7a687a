/** What a tool declares of its card is on every question about a call of it. */
import { call, calls, says, tool, type Script } from '../script.js';
import { answer, askOf, createShell, ofType, settle } from '../shell.js';

const CARD = {
  amount: { path: 'cents', unit: 'minor', currency: 'EUR' },
  recipient: 'order',
} as const;

function asked(more: Partial<Script> = {}) {
  const approval = { roles: ['lead'], quorum: 1 };
  const paying = { effect: 'financial', idempotency: 'keyed', approval, card: CARD } as const;
  const model = [calls(call('a', 'issue_refund', { order: 'O-1', cents: 5 })), says('done')];
  return settle(createShell({ tools: [tool('issue_refund', paying)], model, ...more }));
}

test('an approval says what its tool declares of its card', () => {
  const shell = asked();
  expect(askOf(shell)).toMatchObject({ card: CARD });
  expect(ofType(shell, 'approval_requested')).toMatchObject([{ card: CARD }]);
});

test('so does the question about what became of the call', () => {
  const shell = asked({
    outcomes: { issue_refund: [{ ambiguous: 'reset' }] },
    findings: [{ kind: 'unknown', message: 'nobody knows' }],
  });
  answer(shell, { by: 'lea', roles: ['lead'] });
  settle(shell);
  expect(askOf(shell)).toMatchObject({ kind: 'outcome', card: CARD });
});

test('under older rules no question does', () => {
  expect(askOf(asked({ rules: 9 }))).not.toHaveProperty('card');
});

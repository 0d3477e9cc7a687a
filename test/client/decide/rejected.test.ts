/** What the error of a decision that does not count says to do. */
import { commandFor, decisionRejected, latenessOf } from '../../../client/decide/rejected.js';

const ask = { askId: 'bonus-1:1', roles: ['manager', 'owner'] };
const refused = (reason: 'role_missing' | 'run_closing', command?: string) =>
  decisionRejected(
    { accepted: false, reason, message: 'why' },
    { askId: 'bonus-1:1', runId: 'bonus-1', ...(command !== undefined && { command }) },
  ).hint;

test('who lacks the role reads the whole command with one that counts', () => {
  const command = commandFor(ask, { decision: 'approve', by: 'ana' });
  expect(refused('role_missing', command)).toBe(
    'Decide with one of the roles that the question names (--role): `holdfast approve bonus-1:1 --as ana --role manager`.',
  );
});

test.each([
  ['a decision that needs more options', ask, { decision: 'modify', by: 'ana' }],
  ['a question without roles', { askId: 'a:1', roles: [] }, { decision: 'approve', by: 'ana' }],
  ['a name that a shell reads otherwise', ask, { decision: 'reject', by: 'ana; rm -r x' }],
  ['a name that is an option', ask, { decision: 'reject', by: '--force' }],
] as const)('%s has no command', (_, of, decision) => {
  const command = commandFor(of, decision);
  expect(command).toBe('');
  expect(refused('role_missing', command)).toBe(
    'Decide with one of the roles that the question names (--role).',
  );
});

test.each([
  ['role_missing', 'Let somebody decide whose login has one of the roles that the question names.'],
  ['own_request', 'Let another person decide, with their own login.'],
] as const)('whom a login names is not told to name themselves: %s', (reason, hint) => {
  const about = { askId: 'bonus-1:1', runId: 'bonus-1', atDesk: true };
  const error = decisionRejected({ accepted: false, reason, message: 'why' }, about);
  expect(error.hint).toBe(hint);
});

test('a run that has ended is named in what shows it', () => {
  expect(refused('run_closing')).toContain('`holdfast show bonus-1`');
});

test('an answer is called one, and the hint leads to the one that counts', () => {
  const error = decisionRejected(
    { accepted: false, reason: 'already_decided', message: 'the question was answered by mia' },
    { askId: 'q:0', runId: 'q', isAnswer: true },
  );
  expect(error.message).toBe('The answer does not count: the question was answered by mia.');
  expect(error.hint).toBe('See the answer with `holdfast grounds q:0`.');
});

test('the time of the decision that counted is when it was sent', () => {
  const decided = { outcome: 'rejected', by: 'mia', at: 1_000 } as const;
  const error = decisionRejected(
    { accepted: false, reason: 'already_decided', message: 'mia was first', decided },
    { askId: 'bonus-1:1', runId: 'bonus-1' },
  );
  expect(error.message).toBe(
    'The decision does not count: mia was first (sent 1970-01-01T00:00:01.000Z).',
  );
});

test('a reason of a newer release is told without a hint', () => {
  const error = decisionRejected(
    { accepted: false, reason: 'not_today' as 'late', message: 'not on a holiday' },
    { askId: 'bonus-1:1', runId: 'bonus-1' },
  );
  expect(error.message).toBe('The decision does not count: not on a holiday.');
  expect(error.details).toMatchObject({ reason: 'not_today' });
});

test('a decision is late when it was made after the expiry, and in time at that very moment', () => {
  expect(latenessOf({ expiresAt: 1_000 }, { decidedAt: 1_000 })).toBeUndefined();
  expect(latenessOf({ expiresAt: 1_000 }, { decidedAt: 1_001 })).toEqual({
    accepted: false,
    reason: 'late',
    message: 'the question expired at 1970-01-01T00:00:01.000Z',
  });
});

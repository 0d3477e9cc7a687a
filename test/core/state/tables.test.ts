/** Tables of the core, and the functions that read facts off them, as they are meant. */
import { ACTIVITIES, isSameStore } from '../../../core/state/effect.js';
import { isErrorCode } from '../../../core/state/errors.js';
import { failureOf, hintOf, type RawFailure } from '../../../core/state/failure.js';
import { recoveryWords, type RecoveryStep } from '../../../core/state/recovery.js';
import { EFFECTS, IDEMPOTENCIES, isMutating, retryFor } from '../../../core/state/tool.js';
import { warningKind, WARNINGS } from '../../../core/state/warning.js';
import { UNDER_WAY, WORK } from '../../../core/step/inflight.js';

type Flag = 'audited' | 'counts' | 'refusesControl';
const flagged = (flag: Flag): readonly string[] =>
  Object.keys(WARNINGS).filter((code) => warningKind(code)![flag] === true);

test('what may not count is in the audit trail, and refused controls are told to readers', () => {
  const signals = ['resolveApproval', 'provideInput', 'userMessage', 'setModel'];
  const controls = ['setMaxThinkingTokens', 'setPermissionMode', 'signal'];
  expect(flagged('audited').toSorted()).toEqual(
    [
      ...['mismatch', 'vague', 'late', 'duplicate'].map((name) => `approval_${name}`),
      'decision_unproven',
      'decision_ignored',
      'correction_refused',
      'input_ignored',
      'permission_mode',
      'permission_mode_refused',
      'goal_message_refused',
      'rejected_goalMessage',
      ...[...signals, ...controls].map((name) => `rejected_${name}`),
    ].toSorted(),
  );
  expect(flagged('counts')).toEqual(['permission_mode']);
  expect(flagged('refusesControl')).toEqual([
    'permission_mode_refused',
    'model_refused',
    'goal_message_refused',
  ]);
  expect(warningKind('of_a_newer_release')).toBeUndefined();
});

test('everything works for the run but what only stores, and an interrupt ends what is not owed', () => {
  const all = Object.keys(ACTIVITIES);
  expect(all.filter((kind) => !WORK.some((one) => one === kind))).toEqual(['flush']);
  expect(all.filter((kind) => !UNDER_WAY.some((one) => one === kind))).toEqual([
    'open_run',
    'account_call',
    'close_child',
    'flush',
    'close_run',
    'open_goal',
    'close_cycle',
    'save_checkpoint',
    'take_message',
  ]);
});

test('retries follow from effect and idempotency alone', () => {
  const table = EFFECTS.map((effect) =>
    [effect, ...IDEMPOTENCIES.map((idempotency) => retryFor({ effect, idempotency }))].join(' '),
  );
  const harmless = 'repeatable repeatable single single';
  const single = 'single single single single';
  expect(table).toEqual([
    `none ${harmless}`,
    `read ${harmless}`,
    'write single same_key single single',
    ...['send', 'delete', 'financial', 'permission', 'execute', 'commit', 'unknown'].map(
      (effect) => `${effect} ${single}`,
    ),
  ]);
  expect(EFFECTS.filter((effect) => !isMutating({ effect }))).toEqual(['none', 'read']);
});

test('a store is the same by id and epoch', () => {
  const store = { id: 'a', epoch: 2 };
  expect(isSameStore(store, { ...store })).toBe(true);
  expect(isSameStore(store, { id: 'b', epoch: 2 })).toBe(false);
  expect(isSameStore(store, { id: 'a', epoch: 3 })).toBe(false);
});

test.each([
  ['NotServed', true],
  ['Strange', false],
  ['toString', false],
  [undefined, false],
  [1, false],
])('%j is a code of ours: %s', (value, is) => {
  expect(isErrorCode(value)).toBe(is);
});

describe('a failure', () => {
  const of = (raw: RawFailure) => failureOf(raw, { attemptMs: 1_000, queuedMs: 5_000 });
  const PLAIN = { code: 'Internal', message: 'no message' };

  test.each<[string, RawFailure, object]>([
    ['of nothing', {}, PLAIN],
    [
      'of a known type',
      { type: 'RateLimited', message: 'slow' },
      { code: 'RateLimited', message: 'slow' },
    ],
    ['of an unknown type', { type: 'Strange' }, PLAIN],
    ['that was cancelled', { cancelled: true }, { ...PLAIN, code: 'Aborted', cancelled: true }],
    [
      'of a known type that was cancelled',
      { type: 'RateLimited', cancelled: true },
      { ...PLAIN, code: 'RateLimited', cancelled: true },
    ],
    ['with attempts', { attempts: 3 }, { ...PLAIN, attempts: 3 }],
    ['without an attempt', { attempts: 0 }, { ...PLAIN, attempts: 0 }],
    ['that timed out', { timedOut: true }, { ...PLAIN, timedOut: true }],
    [
      'whose details say that it timed out',
      { details: { timedOut: true } },
      { ...PLAIN, timedOut: true, details: { timedOut: true } },
    ],
    ['whose details are no object', { details: 'x' }, PLAIN],
    ['whose details are null', { details: null }, PLAIN],
    [
      'whose details tell of work',
      { details: { workedMs: 7, claimed: 2 } },
      { ...PLAIN, workedMs: 7, claimed: 2, details: { workedMs: 7, claimed: 2 } },
    ],
    [
      'whose details count with what is no count',
      { details: { workedMs: -1, claimed: 1.5 } },
      { ...PLAIN, details: { workedMs: -1, claimed: 1.5 } },
    ],
    [
      'that timed out, with what its last heartbeat said',
      {
        timedOut: true,
        progress: { workedMs: 7, claimed: 2 },
        details: { workedMs: 9, claimed: 9 },
      },
      { ...PLAIN, timedOut: true, workedMs: 7, claimed: 2, details: { workedMs: 9, claimed: 9 } },
    ],
    [
      'whose own time ran out',
      { timedOut: true, timeoutType: 'START_TO_CLOSE' },
      { ...PLAIN, timedOut: true, workedMs: 1_000 },
    ],
    [
      'whose own time ran out, some of it idle',
      { timedOut: true, timeoutType: 'START_TO_CLOSE', progress: { idleMs: 400, workedMs: 100 } },
      { ...PLAIN, timedOut: true, workedMs: 600 },
    ],
    [
      'whose own time ran out after it had worked for longer',
      { timedOut: true, timeoutType: 'START_TO_CLOSE', progress: { idleMs: 400, workedMs: 900 } },
      { ...PLAIN, timedOut: true, workedMs: 900 },
    ],
    [
      'that no worker took',
      { timedOut: true, timeoutType: 'SCHEDULE_TO_START', progress: null },
      {
        code: 'ToolUnavailable',
        message: 'No worker of its task queue took it.',
        unserved: true,
        attempts: 0,
      },
    ],
    [
      'that no worker took again',
      { timedOut: true, timeoutType: 'SCHEDULE_TO_START', progress: { workedMs: 7, claimed: 2 } },
      {
        code: 'Internal',
        message: 'No worker of its task queue took it.',
        unserved: true,
        workedMs: 7,
        claimed: 2,
      },
    ],
  ])('%s', (_what, raw, expected) => {
    expect(of(raw)).toStrictEqual(expected);
  });

  test('of an effect whose wait nothing limits has run out of time, as before', () => {
    const raw = { timedOut: true, timeoutType: 'SCHEDULE_TO_START', message: 'ran out of time' };
    expect(failureOf(raw, { attemptMs: 1_000 })).toMatchObject({
      code: 'Internal',
      message: 'ran out of time',
      timedOut: true,
    });
  });

  test('keeps a bounded message', () => {
    expect(of({ message: 'x'.repeat(1_001) }).message).toHaveLength(1_000);
  });

  test.each([
    ['wait', 'wait'],
    [' ', undefined],
    ['two\nlines', undefined],
    [7, undefined],
    ['x'.repeat(301), 'x'.repeat(300)],
  ])('says what is to be done as one line: %j', (hint, expected) => {
    expect(hintOf({ ...of({ details: { hint } }) })).toBe(expected);
  });

  test('that says nothing of it has no hint', () => {
    expect(hintOf(of({}))).toBeUndefined();
  });
});

test.each<[RecoveryStep, string]>([
  [{ step: 'attempt_lost' }, 'nobody heard how attempt 1 ended'],
  [{ step: 'attempt_lost', attempt: 2, claimed: true }, 'nobody heard how attempt 2 ended'],
  [
    { step: 'attempt_lost', attempt: 2, claimed: false },
    'nobody heard how attempt 2 ended, which had claimed nothing',
  ],
  [{ step: 'ledger_told', answer: 'happened' }, 'the ledger says that it happened'],
  [{ step: 'ledger_told', answer: 'not_happened' }, 'the ledger says that it did not happen'],
  [{ step: 'probe_told', message: 'down' }, 'the probe could not tell: “down”'],
  [{ step: 'person_told', by: ['a', 'b'], answer: 'happened' }, 'a, b says that it happened'],
  [{ step: 'person_told', by: [], answer: 'happened' }, 'a person says that it happened'],
  [{ step: 'person_told', answer: 'happened' }, 'a person says that it happened'],
  [{ step: 'nobody_told', message: 'silence' }, 'nobody could tell: “silence”'],
  [{ step: 'nobody_told' }, 'nobody could tell'],
])('%j in words', (step, words) => {
  expect(recoveryWords(step)).toBe(words);
});

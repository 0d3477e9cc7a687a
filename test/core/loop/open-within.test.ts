/** A run that is opened within its first task, and what it shows of its beginning and its end. */
import { advance, receive } from '../../../core/loop/engine.js';
import { nextSegment, open, type Identity } from '../../../core/loop/open.js';
import type { OpenRunOutput } from '../../../core/state/effect.js';
import type { Run } from '../../../core/state/run.js';
import { CHANGES, RULES_VERSION } from '../../../core/step/changes.js';
import { call, calls, says } from '../script.js';
import {
  createShell,
  finish,
  pass,
  send,
  settle,
  started,
  tick,
  until,
  type Shell,
} from '../shell.js';

const START = { v: 1, agent: 'desk', task: { goal: 'Serve.' } } as const;
const AT = 1_000_000;
const TAKEN: Identity = { runId: 'r', at: AT, rules: RULES_VERSION, takenAt: AT, taskMs: 10_000 };
const BEFORE = CHANGES.openedWithin.since - 1;

function decided(identity: Identity, start: Parameters<typeof open>[0] = START) {
  return advance(open(start, identity));
}

function openingOf(identity: Identity, start?: Parameters<typeof open>[0]) {
  const { effects } = decided(identity, start);
  const found = effects.find(({ kind }) => kind === 'open_run');
  return found as Extract<typeof found, { kind: 'open_run' }>;
}

const failed = {
  type: 'effect_failed',
  id: 'open_run-1',
  at: AT + 9,
  failure: { code: 'StoreUnavailable', message: 'away' },
} as const;

function openedBy(run: Run, output: Partial<OpenRunOutput>) {
  const given = { rules: RULES_VERSION, eventsUpTo: 0, ...output };
  return receive(run, { type: 'run_opened', id: 'open_run-1', at: AT + 9, output: given });
}

test('its opening is one attempt of a second within the first task, which says so to itself', () => {
  const effect = openingOf(TAKEN);
  expect(effect).toMatchObject({
    local: true,
    limits: { attemptMs: 1_000, maximumAttempts: 1 },
    input: { quick: { effectId: effect.id, ms: 1_000 }, start: START },
  });
  expect(effect.brief).toBeUndefined();
});

test.each<[string, Partial<Identity>, object?]>([
  ['of code of the rules before', { rules: BEFORE }],
  ['of code that does not say its rules', { rules: undefined }],
  ['where nobody says when its start was taken', { takenAt: undefined as never }],
  ['whose first task may be the second try of one', { takenAt: AT - 5_001 }],
  ['whose short first task may be', { taskMs: 4_000, takenAt: AT - 2_001 }],
  ['whose tasks are shorter than two attempts', { taskMs: 1_999 }],
  ['that is a fork', {}, { fork: { id: 'other', v: 1 } }],
])('a run %s is opened by an ordinary activity', (_, identity, start = {}) => {
  const effect = openingOf({ ...TAKEN, ...identity }, { ...START, ...start } as never);
  expect(effect.local).toBeUndefined();
  expect(effect.input.quick).toBeUndefined();
  expect(effect.limits.maximumAttempts).toBe(0);
});

test.each([
  ['says that it opens elsewhere', (run: Run) => openedBy(run, { elsewhere: 'outside' })],
  ['fails', (run: Run) => receive(run, failed)],
])('an attempt that %s is followed by an ordinary opening, and by nothing else', (_, ended) => {
  const { run, effects } = advance(ended(decided(TAKEN).run));
  expect(effects).toMatchObject([{ kind: 'open_run', id: 'open_run-2', input: { start: START } }]);
  expect(effects[0]).not.toHaveProperty('local');
  expect(effects[0]).not.toHaveProperty('input.quick');
  expect(run.notOpened).toBeUndefined();
});

test('a later segment is opened by an ordinary activity, whatever the first one did', () => {
  const run = openedBy(decided(TAKEN).run, {});
  expect(run).not.toHaveProperty('opensWithin');
  const next = nextSegment(run, { at: AT + 20, previousExecution: 'first' });
  expect(advance(next).effects).toMatchObject([
    { kind: 'open_run', limits: { attemptMs: 60_000 } },
  ]);
});

describe('what a start has shown', () => {
  const own = { status: 'running', agent: 'desk', tenant: 'default' };
  const shows = (identity: Partial<Identity>) =>
    decided({ ...TAKEN, ...identity }).effects.filter(({ kind }) => kind === 'status');

  test('is not shown again', () => {
    expect(shows({ shown: own })).toEqual([]);
  });

  test.each([
    ['nothing', {}],
    ['another agent', { ...own, agent: 'other' }],
    ['another tenant', { ...own, tenant: 'other' }],
    ['another status', { ...own, status: 'completed' }],
  ])('is shown by the run where the start says %s', (_, shown) => {
    expect(shows({ shown })).toEqual([{ kind: 'status', status: 'running' }]);
  });

  test('is shown again by code of the rules before', () => {
    expect(shows({ shown: own, rules: BEFORE })).toEqual([{ kind: 'status', status: 'running' }]);
  });
});

describe('how a run ended', () => {
  const endingOf = (rules?: number) => {
    const shell = createShell({ model: [says('Done.')], ...(rules !== undefined && { rules }) });
    const statuses = () =>
      shell.effects.flatMap((one) => (one.kind === 'status' ? [one.status] : []));
    until(shell, 'run_result');
    expect(started(shell, 'close_run')).toHaveLength(1);
    const whileStored = statuses();
    finish(shell);
    return { whileStored, ended: statuses() };
  };

  test('is shown with its end, and not while it is stored', () => {
    expect(endingOf()).toEqual({ whileStored: ['running'], ended: ['running', 'completed'] });
  });

  test('is shown while it is stored by the rules before', () => {
    const ended = ['running', 'completed'];
    expect(endingOf(BEFORE)).toEqual({ whileStored: ended, ended });
  });

  // The store may be away for hours.
  const waiting = () => settle(createShell({ model: [calls(call('a', 'issue_refund'))] }));
  const shown = ({ effects }: Shell) =>
    effects.flatMap((one) => (one.kind === 'status' ? [one.status] : []));

  test.each([
    ['a person stops it', 'cancelled', (shell: Shell) => send(shell, { type: 'interrupt' })],
    ['its time is over', 'stopped', (shell: Shell) => pass(shell, 1e10)],
  ])('is shown while it is stored where it waits for somebody and %s', (_, status, ends) => {
    const shell = waiting();
    ends(shell);
    while (started(shell, 'close_run').length === 0) tick(shell);
    expect(shown(shell)).toEqual(['running', 'awaiting_approval', status]);
  });

  test('is shown while it is stored where a person stops a run that has nothing under way', () => {
    const shell = createShell({ model: [says('late')] });
    send(shell, { type: 'cancel_requested' });
    while (started(shell, 'close_run').length === 0) tick(shell);
    expect(shown(shell).at(-1)).toBe('cancelled');
  });
});

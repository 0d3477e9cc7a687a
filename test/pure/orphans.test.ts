/** When a child is an orphan, and what is done about one. */
import { orphanReason, orphanVerdict, type KnownRun } from '../../pure/orphans.js';

const OPEN = { parent: 'run', sealed: false };
const SEALED = { parent: 'run', sealed: true };
const RUNNING: KnownRun = { state: 'running', parent: null };
const CLOSED: KnownRun = { state: 'closed', parent: null };
const NOT_FOUND: KnownRun = { state: 'not_found' };

test('A child whose parent runs, or of whose parent nobody can tell, is no orphan.', () => {
  expect(orphanReason(OPEN, RUNNING)).toBeUndefined();
  expect(orphanReason(OPEN, undefined)).toBeUndefined();
  expect(orphanReason(SEALED, undefined)).toBeUndefined();
});

test('A child is an orphan when its parent has ended, is not known any more, or has given it up.', () => {
  expect(orphanReason(OPEN, CLOSED)).toBe('parent_closed');
  expect(orphanReason(OPEN, NOT_FOUND)).toBe('parent_forgotten');
  expect(orphanReason(SEALED, RUNNING)).toBe('given_up');
  expect(orphanReason(SEALED, CLOSED)).toBe('parent_closed');
});

const verdict = (
  child: KnownRun,
  reason: Parameters<typeof orphanVerdict>[1] = 'parent_closed',
  isServerTheirs = false,
) => orphanVerdict(OPEN, reason, { child, isServerTheirs });

test('An orphan that runs is told to stop, and a run of somebody else that has its id is left alone.', () => {
  expect(verdict({ state: 'running', parent: 'run' })).toBe('stop');
  expect(verdict({ state: 'running', parent: 'run' }, 'parent_forgotten')).toBe('stop');
  expect(verdict({ state: 'running', parent: null })).toBe('stranger');
  expect(verdict({ state: 'running', parent: 'other' })).toBe('stranger');
});

test('Nothing is decided without a word of the server, nor where the server may be another one.', () => {
  expect(verdict(undefined)).toBe('ask_again');
  expect(verdict(NOT_FOUND, 'parent_forgotten')).toBe('unclear');
  expect(verdict(NOT_FOUND, 'parent_forgotten', true)).toBe('over');
  expect(verdict(NOT_FOUND)).toBe('over');
  expect(verdict(CLOSED)).toBe('over');
});

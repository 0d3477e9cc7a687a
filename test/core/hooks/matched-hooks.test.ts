/** Hooks that say which calls they are about. */
import { CHANGES } from '../../../core/step/changes.js';
import type { HookPoint } from '../../../core/state/hook.js';
import { call, calls, failure, says, type Script } from '../script.js';
import {
  answer,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  settle,
  started,
  type Shell,
} from '../shell.js';

function play(script: Script): Shell {
  const shell = createShell(script);
  finish(shell);
  return shell;
}

/** `point hook outcome[ call]` */
function hooksOf(shell: Shell): readonly string[] {
  return ofType(shell, 'hook').map(({ name, hook, outcome, callId }) =>
    [name, hook, outcome, ...(callId === undefined ? [] : [callId])].join(' '),
  );
}

function askedOf(shell: Shell, point: HookPoint) {
  return started(shell, 'run_hooks')
    .filter(({ input }) => input.point === point)
    .map(({ input }) => input.payload);
}

const PRE = { PreToolUse: ['guard'] };
const READ = calls(call('a', 'read_order'));

describe('G113: a hook that names calls', () => {
  const AFTER = { PostToolUse: ['after'], PostToolUseFailure: ['after_failure'] };
  const TWO = calls(call('a', 'read_order'), call('b', 'write_note', {}));

  const matched = (script: Partial<Script>): Shell =>
    play({ hookNames: { ...PRE, ...AFTER }, model: [TWO, says('done')], ...script });

  test('is asked about those alone, by their tools and by their effects', () => {
    const hookMatches = { guard: { tools: ['write_*'] }, after: { effects: ['read'] } } as const;
    expect(hooksOf(matched({ hookMatches }))).toEqual([
      'PostToolUse after ok a',
      'PreToolUse guard ok b',
    ]);
  });

  test.each([
    ['read_order', true],
    ['*', true],
    ['read*', true],
    ['*order', true],
    ['r*d*r', true],
    ['read_*_order', false],
    ['read', false],
    ['order*', false],
    ['read_order*read_order', false],
    ['*write*', false],
  ])('of tools by %s is asked about read_order: %s', (glob, isAsked) => {
    const shell = matched({ hookMatches: { guard: { tools: ['x', glob] } }, model: [READ] });
    expect(askedOf(shell, 'PreToolUse')).toHaveLength(isAsked ? 1 : 0);
  });

  test('is asked about a call that fits tools and effects both', () => {
    const hookMatches = { guard: { tools: ['*_order'], effects: ['write'] } } as const;
    expect(askedOf(matched({ hookMatches }), 'PreToolUse')).toEqual([]);
  });

  test('costs calls that it does not match no activity, however they end', () => {
    const nothing = { tools: ['other'] };
    const hookMatches = { guard: nothing, after: nothing, after_failure: nothing };
    const shell = matched({ hookMatches, outcomes: { read_order: [{ error: 'gone' }] } });
    expect(started(shell, 'run_hooks')).toEqual([]);
    expect(codesOf(shell)).toEqual({ a: 'execution_error', b: 'ok' });
  });

  test('fails alone where the activity fails: the other hooks were not asked', () => {
    const shell = matched({
      hookNames: { PreToolUse: ['other', 'guard'] },
      hookMatches: { other: { tools: ['x'] } },
      hooks: { guard: [failure('Internal')] },
    });
    expect(hooksOf(shell)[0]).toBe('PreToolUse guard error a');
    expect(hooksOf(shell)).toHaveLength(2);
  });

  test('is asked about every call under rules before 10', () => {
    const { since } = CHANGES.matchedHooks;
    const shell = matched({ hookMatches: { guard: { tools: ['x'] } }, rules: since - 1 });
    expect(askedOf(shell, 'PreToolUse')).toHaveLength(2);
  });

  test('and has not seen a call lets nobody put its tool in that call’s place', () => {
    const shell = createShell({
      hookNames: PRE,
      hookMatches: { guard: { tools: ['issue_refund'] } },
      model: [calls(call('a', 'send_email', {})), says('done')],
    });
    settle(shell);
    answer(shell, { decision: 'replace', tool: 'issue_refund', args: { amount: 1 } });
    settle(shell);
    expect(ofType(shell, 'warning').map(({ message }) => message)).toEqual([
      expect.stringContaining('the hook guard has not seen this call'),
    ]);
    expect(executedOf(shell)).toEqual([]);
  });
});

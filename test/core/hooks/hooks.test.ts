import type { HookPoint } from '../../../core/state/hook.js';
import { call, calls, failure, says, STRICT_001, type Script } from '../script.js';
import {
  answer,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  pass,
  requestsOf,
  send,
  settle,
  started,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

const ABORTED = failure('Aborted', { cancelled: true }).failure;

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

/** Starts, results and hooks of calls in the order in which they were told. */
function storyOf(shell: Shell): readonly string[] {
  return shell.events.flatMap((event) => {
    if (event.type === 'tool_started') return [`start ${event.callId}`];
    if (event.type === 'tool_finished') return [`end ${event.callId}`];
    if (event.type === 'permission') return [`permission ${event.callId}`];
    return event.type === 'hook' ? [`${event.name} ${event.callId}`] : [];
  });
}

const PRE = { PreToolUse: ['guard'] };
const READ = calls(call('a', 'read_order'));

test('without hooks none of their activities is started', () => {
  const shell = play({ model: [READ, says('done')] });
  expect(started(shell, 'run_hooks')).toEqual([]);
  expect(finish(shell).hooks).toBeUndefined();
});

describe('PreToolUse', () => {
  test('S142: a denied call gets the words of the hook, no permission and no other hook', () => {
    const shell = play({
      hookNames: { ...PRE, PostToolUse: ['after'], PostToolUseFailure: ['after_failure'] },
      hooks: { guard: [{ decision: 'deny', message: 'not on Sundays' }] },
      model: [calls(call('a', 'read_order'), call('b', 'lookup_order')), says('done')],
    });
    expect(codesOf(shell)).toEqual({ a: 'hook_denied', b: 'ok' });
    expect(ofType(shell, 'tool_finished')[0]).toMatchObject({
      content: { text: 'not on Sundays' },
      synthetic: true,
      started: false,
    });
    expect(storyOf(shell)).toEqual([
      'PreToolUse a',
      'end a',
      'PreToolUse b',
      'permission b',
      'start b',
      'end b',
      'PostToolUse b',
    ]);
    expect(finish(shell).counters).toMatchObject({ deniedCalls: 1, toolCalls: 1 });
  });

  test('is told the tool, its input and the call', () => {
    const shell = play({ hookNames: PRE, model: [READ, says('done')] });
    expect(askedOf(shell, 'PreToolUse')).toEqual([
      { tool_name: 'read_order', tool_input: { orderId: '1' }, call_id: 'a' },
    ]);
    expect(hooksOf(shell)).toEqual(['PreToolUse guard ok a']);
  });

  test('unknown and invalid calls reach no hook', () => {
    const model = [calls(call('a', 'nope'), call('b', 'read_order', {})), says('done')];
    expect(started(play({ hookNames: PRE, model }), 'run_hooks')).toEqual([]);
  });

  test('a hook that fails denies: a gate that cannot be asked does not open', () => {
    const shell = play({
      hookNames: PRE,
      hooks: { guard: [{ error: 'no database' }] },
      model: [calls(call('a', 'write_note', { text: 'x' })), says('done')],
    });
    expect(codesOf(shell)).toEqual({ a: 'hook_denied' });
    expect(executedOf(shell)).toEqual([]);
    expect(hooksOf(shell)).toEqual(['PreToolUse guard error a']);
  });

  test('an activity that fails denies too', () => {
    const shell = play({
      hookNames: PRE,
      hooks: { guard: [failure('Internal')] },
      model: [READ, says('done')],
    });
    expect(codesOf(shell)).toEqual({ a: 'hook_denied' });
  });

  test('a denial refuses a strict run', () => {
    const shell = play({
      settings: STRICT_001,
      hookNames: PRE,
      hooks: { guard: [{ decision: 'deny' }] },
      model: [READ],
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'refused', detail: 'denied_action' });
  });

  test('the first hook that denies ends the chain', () => {
    const shell = play({
      hookNames: { PreToolUse: ['first', 'second'] },
      hooks: { first: [{ decision: 'deny' }], second: [{ decision: 'allow' }] },
      model: [READ, says('done')],
    });
    expect(hooksOf(shell)).toEqual(['PreToolUse first deny a']);
  });

  test('ask wants a person where the policy allows', () => {
    const shell = settle(
      createShell({
        hookNames: PRE,
        hooks: { guard: [{ decision: 'ask', message: 'unusual' }] },
        model: [READ, says('done')],
      }),
    );
    expect(ofType(shell, 'permission')).toMatchObject([
      { decision: 'ask', rule: 'hook:guard', reason: 'unusual' },
    ]);
    expect(executedOf(shell)).toEqual([]);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(started(shell, 'execute_tool')[0]?.input.grant.basis).toBe('ask');
  });

  test('allow neither lifts a denial of the policy nor an approval', () => {
    const shell = settle(
      createShell({
        hookNames: PRE,
        hooks: { guard: [{ decision: 'allow' }, { decision: 'allow' }] },
        policy: [{ tool: 'write_note', decision: 'deny' }],
        model: [calls(call('a', 'write_note', {}), call('b', 'issue_refund', {})), says('done')],
      }),
    );
    expect(codesOf(shell)).toEqual({ a: 'permission_denied' });
    expect(ofType(shell, 'approval_requested')).toHaveLength(1);
  });

  test('ask does not lift a denial of the policy', () => {
    const shell = play({
      hookNames: PRE,
      hooks: { guard: [{ decision: 'ask' }] },
      policy: [{ tool: 'read_order', decision: 'deny' }],
      model: [READ, says('done')],
    });
    expect(codesOf(shell)).toEqual({ a: 'permission_denied' });
  });

  test('ask denies where nobody may be asked', () => {
    const hooks = { guard: [{ decision: 'ask' as const }] };
    const settings = { permissionMode: 'dontAsk' } as const;
    const shell = play({ hookNames: PRE, hooks, model: [READ, says('done')], settings });
    expect(codesOf(shell)).toEqual({ a: 'permission_denied' });
    expect(executedOf(shell)).toEqual([]);
  });

  test('changed input is checked, then permitted and executed instead of the proposed one', () => {
    const shell = settle(
      createShell({
        hookNames: PRE,
        hooks: { guard: [{ decision: 'ask', updatedInput: { orderId: '7' } }] },
        model: [READ, says('done')],
      }),
    );
    expect(ofType(shell, 'approval_requested')).toMatchObject([{ args: { orderId: '7' } }]);
    answer(shell);
    finish(shell);
    expect(started(shell, 'execute_tool')[0]?.input.call.args).toEqual({ orderId: '7' });
    expect(askedOf(shell, 'PreToolUse')).toHaveLength(1);
  });

  test('changed input that is not valid is an error of the call', () => {
    const shell = play({
      hookNames: PRE,
      hooks: { guard: [{ updatedInput: { orderId: 7 } }] },
      check: () => ({ ok: false, code: 'invalid_arguments', message: 'orderId: not a text' }),
      model: [READ, says('done')],
    });
    expect(codesOf(shell)).toEqual({ a: 'invalid_arguments' });
    expect(executedOf(shell)).toEqual([]);
  });

  test('an interrupt ends the hook and the call is not executed', () => {
    const shell = createShell({
      hookNames: { ...PRE, SessionEnd: ['bye'] },
      hooks: { guard: [{ delayMs: 60_000 }] },
      model: [READ, says('late')],
    });
    until(shell, 'model_response');
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', phase: 'before_tools' });
    expect(codesOf(shell)).toEqual({ a: 'interrupted' });
    expect(hooksOf(shell)).toEqual(['PreToolUse guard error a']);
    expect(shell.now).toBeLessThan(1_000_000 + 60_000);
  });
});

describe('PostToolUse and PostToolUseFailure', () => {
  const AFTER = {
    PreToolUse: ['before'],
    PostToolUse: ['after'],
    PostToolUseFailure: ['after_failure'],
  };

  test('S144: each call has its hooks before the next one begins', () => {
    const shell = play({
      hookNames: AFTER,
      outcomes: { lookup_order: [{ error: 'down' }] },
      model: [calls(call('a', 'read_order'), call('b', 'lookup_order')), says('done')],
    });
    expect(storyOf(shell)).toEqual([
      'PreToolUse a',
      'permission a',
      'start a',
      'end a',
      'PostToolUse a',
      'PreToolUse b',
      'permission b',
      'start b',
      'end b',
      'PostToolUseFailure b',
    ]);
    expect(askedOf(shell, 'PostToolUse')).toMatchObject([
      { tool_name: 'read_order', call_id: 'a', tool_response: '{"echo":{"orderId":"1"}}' },
    ]);
    expect(askedOf(shell, 'PostToolUseFailure')).toMatchObject([
      { call_id: 'b', error: 'down', code: 'execution_error' },
    ]);
  });

  test('S152: a hook that throws changes nothing of the result', () => {
    const shell = play({
      hookNames: AFTER,
      hooks: { after: [{ error: 'boom' }] },
      model: [READ, says('done')],
    });
    expect(codesOf(shell)).toEqual({ a: 'ok' });
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'hook').at(-1)).toMatchObject({ outcome: 'error', message: 'boom' });
  });

  test('the next request waits for them', () => {
    const shell = createShell({
      hookNames: AFTER,
      hooks: { after: [{ delayMs: 500 }] },
      model: [READ, says('done')],
    });
    until(shell, 'tool_finished');
    expect(requestsOf(shell)).toHaveLength(1);
    until(shell, 'hook', { name: 'PostToolUse' });
    expect(requestsOf(shell)).toHaveLength(2);
  });

  test('C47: what the runtime answered itself has none', () => {
    const shell = settle(
      createShell({
        hookNames: { PostToolUse: ['after'], PostToolUseFailure: ['after_failure'] },
        policy: [{ tool: 'shell', decision: 'deny' }],
        settings: { onOutcomeUnknown: 'observe' },
        outcomes: { write_note: [{ ambiguous: 'reset' }] },
        model: [
          calls(call('a', 'nope'), call('b', 'shell', {}), call('c', 'write_note', {})),
          says('done'),
        ],
      }),
    );
    expect(codesOf(shell)).toEqual({
      a: 'unknown_tool',
      b: 'permission_denied',
      c: 'outcome_unknown',
    });
    expect(hooksOf(shell)).toEqual([]);
  });

  test('a result that ends the run is seen by its hook first', () => {
    const shell = play({
      settings: STRICT_001,
      hookNames: AFTER,
      outcomes: { read_order: [{ error: 'down' }] },
      model: [calls(call('a', 'read_order'), call('b', 'lookup_order'))],
    });
    expect(finish(shell).stopReason).toBe('tool_failure');
    expect(hooksOf(shell)).toEqual([
      'PreToolUse before ok a',
      'PostToolUseFailure after_failure ok a',
    ]);
    expect(executedOf(shell)).toHaveLength(1);
  });
});

describe('PostSampling', () => {
  const SAMPLING = { PostSampling: ['watch'] };

  test('neither blocks nor changes the turn; what it says comes with the next request', () => {
    const shell = createShell({
      hookNames: SAMPLING,
      hooks: { watch: [{ systemMessages: ['Be brief.'], delayMs: 50 }] },
      outcomes: { read_order: [{ ok: 1, delayMs: 100 }] },
      model: [READ, says('done')],
    });
    until(shell, 'tool_started');
    expect(hooksOf(shell)).toEqual([]);
    finish(shell);
    expect(lettersOf(shell.transcript)).toBe('U A R U A');
    expect(requestsOf(shell)[1]?.append).toMatchObject([
      { kind: 'results' },
      { kind: 'user', content: { text: 'Be brief.' }, synthetic: true },
    ]);
  });

  test('G39: one that is late is heard by the request after', () => {
    const shell = play({
      hookNames: SAMPLING,
      hooks: { watch: [{ systemMessages: ['Late.'], delayMs: 4 }] },
      outcomes: { read_order: [{ ok: 1 }] },
      model: [READ, { ...calls(call('b', 'lookup_order')), delayMs: 20 }, says('done')],
    });
    expect(requestsOf(shell)[1]?.append).toHaveLength(1);
    expect(requestsOf(shell)[2]?.append).toMatchObject([
      { kind: 'results' },
      { content: { text: 'Late.' } },
    ]);
  });

  test('one that hangs holds the end of the run for a short time only', () => {
    const shell = createShell({
      hookNames: SAMPLING,
      hooks: { watch: [{ delayMs: 3_600_000 }] },
      model: [says('done')],
    });
    expect(finish(shell).stopReason).toBe('completed');
    expect(shell.now - 1_000_000).toBeLessThan(10_000);
    expect(hooksOf(shell)).toEqual(['PostSampling watch error']);
  });

  test('runs once for every reply, the last one too', () => {
    const shell = play({ hookNames: SAMPLING, model: [READ, says('done')] });
    expect(askedOf(shell, 'PostSampling')).toEqual([
      {
        response: '',
        stop_reason: 'tool_use',
        tool_calls: [{ call_id: 'a', tool_name: 'read_order' }],
      },
      { response: 'done', stop_reason: 'end_turn', tool_calls: [] },
    ]);
  });

  test('messages beyond what a request has room for are dropped with a warning', () => {
    const long = 'x'.repeat(9_000);
    const shell = play({
      hookNames: SAMPLING,
      hooks: { watch: [{ systemMessages: [long, long] }] },
      model: [READ, says('done')],
    });
    expect(warningsOf(shell)).toEqual(['message_dropped']);
    expect(requestsOf(shell)[1]?.append).toHaveLength(2);
  });
});

describe('StopFailure', () => {
  const NAMES = { Stop: ['judge'], StopFailure: ['tell'] };

  test('S150: an error of the API is told once and never judged', () => {
    const shell = play({ hookNames: NAMES, model: [failure('Overloaded', { attempts: 7 })] });
    expect(finish(shell)).toMatchObject({ stopReason: 'failed', detail: 'model_error:Overloaded' });
    expect(hooksOf(shell)).toEqual(['StopFailure tell ok']);
    expect(askedOf(shell, 'StopFailure')).toEqual([
      { error: 'Overloaded', message: 'Overloaded happened', attempts: 7 },
    ]);
  });

  test('it cannot keep the run from ending', () => {
    const shell = createShell({
      hookNames: NAMES,
      hooks: { tell: [{ delayMs: 3_600_000 }] },
      model: [failure('PromptTooLong')],
      budget: { maxReactiveCompactions: 0 },
    });
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    expect(shell.now - 1_000_000).toBeLessThan(10_000);
  });

  test('a budget that is used up is no error of the API', () => {
    const model = [failure('BudgetExhausted', { details: { budget: 'max_cost' } })];
    expect(hooksOf(play({ hookNames: NAMES, model }))).toEqual([]);
  });
});

test('an answer for hooks that nobody waits for is a warning', () => {
  const shell = createShell({ hookNames: PRE, model: [READ, says('done')] });
  until(shell, 'session_init');
  const output = { outcomes: [], eventsUpTo: 0 };
  shell.inbox.push({ type: 'hooks_ran', id: 'run_hooks-99', output, at: shell.now });
  shell.inbox.push({ type: 'effect_failed', id: '__proto__', failure: ABORTED, at: shell.now });
  pass(shell, 0);
  finish(shell);
  expect(warningsOf(shell)).toEqual(['late_input', 'late_input']);
});

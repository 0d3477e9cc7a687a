/** The checker itself: what it lets pass, and that it sees each kind of damage. */
import type { RunEvent } from '../../core/state/event.js';
import { checkEvent, checkStep, startChecking } from '../../pure/invariants.js';
import type { Call } from '../../core/state/call.js';
import type { Run } from '../../core/state/run.js';
import { call, calls, says } from '../core/script.js';
import { answer, createShell, finish, settle, until } from '../core/shell.js';

function goodEvents(): RunEvent[] {
  const model = [calls(call('a', 'read_order'), call('b', 'issue_refund', {})), says('done')];
  const shell = settle(createShell({ model, hookNames: { PreToolUse: ['guard'] } }));
  answer(shell);
  finish(shell);
  return shell.events;
}

function violationsOf(events: readonly RunEvent[]): readonly string[] {
  let state = startChecking();
  return events.flatMap((event) => {
    const checked = checkEvent(state, event);
    state = checked.state;
    return checked.violations;
  });
}

/** The same stream without a gap in its numbers. */
function renumbered(events: readonly RunEvent[]): readonly RunEvent[] {
  return events.map((event, seq) => ({ ...event, stamp: { ...event.stamp, seq } }));
}

type Damage = (events: RunEvent[]) => readonly RunEvent[];

function without(type: RunEvent['type']): Damage {
  return (events) => events.filter((event) => event.type !== type);
}

function twice(type: RunEvent['type']): Damage {
  return (events) => events.flatMap((event) => (event.type === type ? [event, event] : [event]));
}

function changed(type: RunEvent['type'], change: object): Damage {
  return (events) =>
    events.map((event) => (event.type === type ? ({ ...event, ...change } as RunEvent) : event));
}

function atTheEnd(type: RunEvent['type']): Damage {
  return (events) => [...events, ...events.filter((event) => event.type === type)];
}

test('a good run has no violation', () => {
  expect(violationsOf(goodEvents())).toEqual([]);
});

test.each<[string, Damage, RegExp]>([
  ['a missing event', (events) => events.filter((_, index) => index !== 2), /expected seq 2/],
  [
    'no session_init',
    (events) => renumbered(without('session_init')(events)),
    /session_init is first/,
  ],
  [
    'two session_inits',
    (events) => renumbered(twice('session_init')(events)),
    /session_init is first/,
  ],
  ['no stop', (events) => renumbered(without('stop')(events)), /without a stop/],
  ['two stops', (events) => renumbered(twice('stop')(events)), /a second stop/],
  [
    'something after run_result',
    (events) => renumbered(atTheEnd('warning')([...events, ...events.slice(0, 1)])),
    /nothing follows/,
  ],
  [
    'a start after stop',
    (events) => renumbered(moved(events, 'tool_started', 'stop')),
    /nothing starts after stop/,
  ],
  ['no permission', without('permission'), /started with permission none/],
  [
    'no approval',
    changed('approval_resolved', { outcome: 'rejected' }),
    /permission ask, not approved/,
  ],
  [
    'an execution of something else than was asked about',
    changed('tool_started', { tool: 'issue_refund', args: { amount: 9 } }),
    /b is not what people were asked about/,
  ],
  [
    'a corrected call that was permitted before the correction only',
    changed('approval_resolved', {
      outcome: 'modified',
      corrected: { tool: 'issue_refund', args: {} },
    }),
    /b started with permission none/,
  ],
  ['a denied start', changed('permission', { decision: 'deny' }), /permission deny/],
  ['a call without a result', without('tool_finished'), /no result of a, b/],
  [
    'two results of a call',
    (events) => renumbered(twice('tool_finished')(events)),
    /a second result of a/,
  ],
  ['an ok that never started', changed('tool_finished', { started: false }), /says started: false/],
  [
    'results in another order',
    changed('tool_results_message', { callIds: ['b', 'a'] }),
    /b,a for a,b/,
  ],
  [
    'a path that is written twice',
    changed('tool_finished', { path: 'p', status: 'ok' }),
    /p is written although p was/,
  ],
  [
    'a path without a success',
    changed('tool_finished', { path: 'p', status: 'error' }),
    /did not succeed and wrote p/,
  ],
  ['no results message', without('tool_results_message'), /before the results of a, b/],
  [
    'a message that was declared gone',
    (events) => renumbered(events.flatMap((event) => [...tombstoneOf(event), event])),
    /was declared gone/,
  ],
  [
    'a fallback that nobody counted',
    changed('transition', { reason: 'model_fallback' }),
    /0 fallbacks counted, 1 told/,
  ],
  [
    'a start although a hook denied it',
    changed('hook', { outcome: 'deny' }),
    /started although guard denied it/,
  ],
  [
    'a Stop hook that judges a reply with calls',
    changed('hook', { name: 'Stop' }),
    /judges a reply with the calls a, b/,
  ],
  ['a start that nobody validated', without('validation'), /a started without validation/],
  ['an answer that nobody validated', without('validation'), /nobody found to be one/],
  [
    'a failure that says nothing',
    changed('tool_finished', { status: 'error', code: undefined }),
    /a failed and nothing says how/,
  ],
  [
    'a second reply without a reason, and more after it',
    (events) => renumbered(twice('model_response')([...without('transition')(events)])),
    /goes on after a reply that nothing has asked for/,
  ],
  ['another reason than the stop', changed('stop', { reason: 'max_turns' }), /stop said max_turns/],
])('%s is seen', (_what, damage, violation) => {
  expect(violationsOf(damage(goodEvents())).join('\n')).toMatch(violation);
});

function tombstoneOf(event: RunEvent): RunEvent[] {
  if (event.type !== 'model_response') return [];
  const { messageId: targetMessageId, stamp } = event;
  return [{ type: 'tombstone', targetMessageId, reason: 'test', stamp }];
}

/** Puts the first event of a type right behind another one. */
function moved(events: RunEvent[], type: RunEvent['type'], behind: RunEvent['type']): RunEvent[] {
  const one = events.find((event) => event.type === type)!;
  return events
    .filter((event) => event !== one)
    .flatMap((event) => (event.type === behind ? [event, one] : [event]));
}

test.each([
  ['completed', { completed: false }, /completed is not the reason/],
  ['trace', { trace: { runId: 'r', traceId: 't', events: 3 } }, /3 events in trace/],
])('a result with wrong %s is seen', (_what, change, violation) => {
  const events = goodEvents().map((event) =>
    event.type === 'run_result' ? { ...event, result: { ...event.result, ...change } } : event,
  );
  expect(violationsOf(events).join('\n')).toMatch(violation);
});

test('counters that do not add up are seen', () => {
  const events = goodEvents().map((event) => {
    if (event.type !== 'run_result') return event;
    const counters = { ...event.result.counters, toolCalls: 1 };
    return { ...event, result: { ...event.result, counters } };
  });
  expect(violationsOf(events).join('\n')).toMatch(/give 1 calls, 2 were proposed/);
});

describe('a step', () => {
  const shell = createShell({ model: [calls(call('a', 'read_order')), says('x')] });
  until(shell, 'session_init');
  const asking = shell.run;
  const effect = shell.effects.find((one) => one.kind === 'call_model')!;
  const id = 'id' in effect ? effect.id : '';

  function violations(run: Run, before: Run = shell.run): string {
    return checkStep(before, { run, effects: [] }).join('\n');
  }

  test('that starts a model call above the limit is seen', () => {
    const money = { ...asking.money, spentMicroUsd: 5_000_000 };
    const before = { ...asking, inflight: {} };
    const found = checkStep(before, { run: { ...asking, money }, effects: [effect] });
    expect(found.join('\n')).toMatch(/the limit is 5000000/);
  });

  test('that starts work although the run stops is seen', () => {
    const stopping = { reason: 'interrupted', announced: false } as const;
    const before = { ...asking, inflight: {} };
    const found = checkStep(before, { run: { ...asking, stopping }, effects: [effect] });
    expect(found.join('\n')).toMatch(/starts although the run stops/);
  });

  test('that starts hooks nobody knows the reason of is seen', () => {
    const hook = { kind: 'run_hooks', cancelled: false } as const;
    const found = violations({ ...asking, inflight: { ...asking.inflight, 'run_hooks-9': hook } });
    expect(found).toMatch(/nobody knows what run_hooks-9 is for/);
  });

  test('that closes a run before its SessionEnd hooks is seen', () => {
    const ended = createShell({ model: [says('x')], hookNames: { SessionEnd: ['bye'] } });
    finish(ended);
    const closing = ended.effects.filter((one) => one.kind === 'close_run');
    const stopping = { ...ended.run.stopping!, sessionEnd: 'running' } as const;
    const found = checkStep(ended.run, { run: { ...ended.run, stopping }, effects: closing });
    expect(found.join()).toMatch(/closed before its SessionEnd hooks/);
  });

  test('that uses an id again is seen', () => {
    expect(checkStep(asking, { run: asking, effects: [effect] }).join()).toContain(
      `${id} is not new`,
    );
  });

  test('that leaves a reservation without work is seen', () => {
    const timer = { kind: 'timer', cancelled: false, at: 1 } as const;
    expect(violations({ ...asking, inflight: { 'timer-9': timer } })).toMatch(/money is reserved/);
  });

  test('after which a run waits with events that nobody gets is seen', () => {
    const timer = { kind: 'timer', cancelled: false, at: 1 } as const;
    const [event] = goodEvents();
    const outbox = { ...asking.outbox, events: [event!], nextSeq: event!.stamp.seq + 1 };
    const found = violations({ ...asking, outbox, inflight: { 'timer-9': timer } });
    expect(found).toMatch(/1 events are on their way to nobody/);
  });

  test('after which nothing would ever wake the run is seen', () => {
    expect(violations({ ...asking, inflight: {} })).toMatch(/nothing is in flight/);
  });

  describe('with calls side by side', () => {
    const beside = createShell({
      settings: { toolExecution: 'batched' },
      budget: { maxParallelToolCalls: 2 },
      model: [calls(call('a', 'read_order'), call('b', 'lookup_order')), says('x')],
    });
    until(beside, 'tool_started', { callId: 'b' });
    const { turn } = beside.run;

    function damaged(change: (one: Call) => object, more: Partial<Run> = {}): string {
      const changed = turn!.calls.map((one) => ({ ...one, ...change(one) }) as Call);
      return violations({ ...beside.run, ...more, turn: { ...turn!, calls: changed } }, beside.run);
    }

    test('is judged by what runs', () => {
      expect(damaged(() => ({}))).toBe('');
      const budget = { ...beside.run.frozen!.budget, maxParallelToolCalls: 1 };
      const frozen = { ...beside.run.frozen!, budget };
      expect(damaged(() => ({}), { frozen })).toMatch(/2 calls execute at once, the limit is 1/);
      expect(damaged(({ id }) => (id === 'b' ? { tool: 'write_note' } : {}))).toMatch(
        /b executes beside another call/,
      );
      const flow = { outputPath: 'p', refs: [] };
      expect(damaged(() => ({ flow }))).toMatch(/two calls for p execute at once/);
      expect(damaged(() => ({ flow: { refs: ['p'] } }))).toMatch(/references that nobody resolved/);
    });

    test('that writes a path again is seen', () => {
      const before = { ...beside.run, state: { p: { text: '1' } } };
      const again = { ...beside.run, state: { p: { text: '2' } } };
      expect(violations(again, before)).toMatch(/p was written before and has changed/);
      const below = { ...beside.run, state: { p: { text: '1' }, 'p.a': { text: '2' } } };
      expect(violations(below, before)).toMatch(/p.a is written although p was/);
    });
  });

  test('in which time is lost is seen', () => {
    expect(violations({ ...asking, now: asking.now + 5 })).toMatch(/ms are counted/);
  });
});

import { REPETITION_NOTICE } from '../../../core/limits/observed-results.js';
import { call, calls, says, type ModelEntry, type Script } from '../script.js';
import { createShell, finish, requestsOf, type Shell } from '../shell.js';

/** One call per turn; the letter is the order that it reads. */
function reads(...orders: readonly string[]): readonly ModelEntry[] {
  return orders.map((orderId, index) => calls(call(`c${index}`, 'read_order', { orderId })));
}

function play(script: Script): Shell {
  const shell = createShell(script);
  finish(shell);
  return shell;
}

/** After how many turns the notice was given; undefined: never. */
function noticedAfter(shell: Shell): number | undefined {
  const at = requestsOf(shell).findIndex((request) =>
    request.append.some(
      (item) =>
        item.kind === 'user' && 'text' in item.content && item.content.text === REPETITION_NOTICE,
    ),
  );
  return at === -1 ? undefined : at;
}

test('S36: the third identical call gets a notice, the next one needs a person', () => {
  const shell = play({ model: [...reads('a', 'a', 'a', 'a'), says('late')] });
  expect(noticedAfter(shell)).toBe(3);
  expect(finish(shell)).toMatchObject({
    stopReason: 'needs_human',
    detail: 'no_progress',
    counters: { toolCalls: 4 },
  });
});

test('a circle of several calls is noticed too', () => {
  const shell = play({ model: [...reads('a', 'b', 'a', 'b', 'a', 'b'), says('late')] });
  expect(noticedAfter(shell)).toBe(5);
  expect(finish(shell)).toMatchObject({ detail: 'no_progress', counters: { toolCalls: 6 } });
});

test('anything new in between is progress', () => {
  const shell = play({ model: [...reads('a', 'b', 'a', 'c', 'a', 'd', 'a', 'e'), says('done')] });
  expect(noticedAfter(shell)).toBeUndefined();
  expect(finish(shell).stopReason).toBe('completed');
});

test('the same call with another result is new', () => {
  const outcomes = { read_order: [{ ok: 1 }, { ok: 2 }, { ok: 3 }, { ok: 4 }] };
  const shell = play({ outcomes, model: [...reads('a', 'a', 'a', 'a'), says('done')] });
  expect(noticedAfter(shell)).toBeUndefined();
});

test('after a notice, something new gives another chance', () => {
  const shell = play({ model: [...reads('a', 'a', 'a', 'b', 'a', 'b'), says('done')] });
  expect(noticedAfter(shell)).toBe(3);
  expect(finish(shell).stopReason).toBe('completed');
});

test('denied calls are no actions', () => {
  const policy = [{ tool: 'read_order', decision: 'deny' }] as const;
  const budget = { maxDeniedProposals: 'unlimited' } as const;
  const shell = play({ policy, budget, model: [...reads('a', 'a', 'a', 'a'), says('done')] });
  expect(finish(shell).stopReason).toBe('completed');
});

test('it can be lifted', () => {
  const budget = { maxRepeatedActions: 'unlimited' } as const;
  const shell = play({ budget, model: [...reads('a', 'a', 'a', 'a', 'a'), says('done')] });
  expect(finish(shell).stopReason).toBe('completed');
});

test('what is remembered of actions is bounded', () => {
  const orders = Array.from({ length: 45 }, (_, index) => String(index));
  const budget = { maxTurns: 'unlimited', maxToolCalls: 'unlimited' } as const;
  const shell = play({ budget, model: [...reads(...orders), says('done')] });
  expect(Object.keys(shell.run.repetition?.counts ?? {})).toHaveLength(16);
});

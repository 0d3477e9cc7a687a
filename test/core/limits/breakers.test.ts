import type { Json } from '../../../core/json/json.js';
import type { Budget } from '../../../core/state/budget-fields.js';
import { CHANGES } from '../../../core/step/changes.js';
import { call, calls, says, type ModelEntry, type Script } from '../script.js';
import { createShell, finish, requestsOf } from '../shell.js';

/** One call per turn, ids c0, c1, …, then an answer. */
function turns(...names: readonly string[]): readonly ModelEntry[] {
  const args = (index: number) => ({ orderId: String(index) });
  return [...names.map((name, index) => calls(call(`c${index}`, name, args(index)))), says('done')];
}

function ending(script: Script): string {
  const { stopReason, detail } = finish(createShell(script));
  return `${stopReason} ${detail}`;
}

const DENY = [{ tool: 'write_note', decision: 'deny' }] as const;
const ERROR = { error: 'exit 1' };
const DOWN = { error: 'down', code: 'tool_unavailable' } as const;

describe('the same tool ending badly again and again stops the run', () => {
  test('three denied proposals refuse it', () => {
    const model = turns('write_note', 'write_note', 'write_note');
    expect(ending({ model, policy: DENY })).toBe('refused unsafe_proposals');
  });

  test('three invalid proposals need a person', () => {
    const invalid = calls(call('a', 'read_order', {}));
    expect(ending({ model: [invalid, invalid, invalid] })).toBe('needs_human repeated_invalid');
  });

  test('names that the model invents share one count', () => {
    expect(ending({ model: turns('nope', 'none', 'never') })).toBe('needs_human repeated_invalid');
  });

  test('failed attempts count, not failed calls', () => {
    const outcomes = { read_order: [{ ...DOWN, attempts: 2 }] };
    expect(ending({ model: turns('read_order'), outcomes })).toBe(
      'needs_human repeated_tool_failure',
    );
  });

  test('five errors of the tool itself need a person, four do not', () => {
    const outcomes = { shell: [ERROR] };
    const five = turns('shell', 'shell', 'shell', 'shell', 'shell');
    expect(ending({ model: five, outcomes })).toBe('needs_human repeated_tool_failure');
    expect(ending({ model: five.slice(1), outcomes })).toBe('completed final_answer');
  });

  test('a success resets the count of its tool', () => {
    const outcomes = { read_order: [DOWN, { ok: 1 }, DOWN, { ok: 2 }] };
    const model = turns('read_order', 'read_order', 'read_order', 'read_order');
    expect(ending({ model, outcomes })).toBe('completed final_answer');
  });

  test('tools are counted apart', () => {
    const outcomes = { read_order: [DOWN], lookup_order: [DOWN] };
    const model = turns('read_order', 'lookup_order');
    expect(ending({ model, outcomes })).toBe('completed final_answer');
  });

  test('rejected approvals count as denials', () => {
    const settings = { onApprovalTimeout: 'reject', approvalTimeoutMs: 10 } as const;
    const model = turns('issue_refund', 'issue_refund', 'issue_refund');
    expect(ending({ model, settings })).toBe('refused unsafe_proposals');
  });

  test.each([
    ['maxDeniedProposals', DENY, 'write_note'],
    ['maxInvalidProposals', [], 'nope'],
  ] as const)('%s can be lifted', (limit, policy, name) => {
    const budget: Partial<Budget> = { [limit]: 'unlimited' };
    const model = turns(name, name, name, name, name);
    expect(ending({ model, policy, budget })).toBe('completed final_answer');
  });

  test('the breaker acts within a turn: later calls of it are not executed', () => {
    const shell = createShell({
      model: [calls(call('a', 'read_order'), call('b', 'read_order'), call('c', 'read_order'))],
      outcomes: { read_order: [DOWN] },
    });
    expect(finish(shell).counters).toMatchObject({ toolCalls: 2, notStartedCalls: 1 });
    expect(requestsOf(shell)).toHaveLength(1);
  });
});

describe('a tool that is not available', () => {
  const task = { requiredEvidence: [{ id: 'order', satisfiedBy: 'read_order' }] };

  test('stops a task that cannot end without it, at once', () => {
    const shell = createShell({
      task,
      model: [calls(call('a', 'read_order'), call('b', 'write_note', {})), says('late')],
      outcomes: { read_order: [DOWN] },
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'tool_unavailable',
      detail: 'read_order',
      status: 'failed',
      nextSafeAction: expect.stringContaining('read_order'),
    });
    expect(requestsOf(shell)).toHaveLength(1);
  });

  test('is an error to the model when the task does not need it', () => {
    expect(ending({ model: turns('read_order'), outcomes: { read_order: [DOWN] } })).toBe(
      'completed final_answer',
    );
  });

  describe('when its evidence has a predicate', () => {
    const paid = {
      id: 'order',
      satisfiedBy: 'read_order',
      predicate: { path: 'paid', equals: true },
    };
    const model = [...turns('read_order', 'read_order'), says('done')];
    const after = (first: object, more: Partial<Script> = {}): string =>
      ending({
        task: { requiredEvidence: [paid] },
        model,
        outcomes: { read_order: [{ ok: first as Json }, DOWN] },
        ...more,
      });

    test('stops the run as long as no result has met that', () => {
      expect(after({ paid: false })).toBe('tool_unavailable read_order');
      expect(after({ paid: true })).toBe('completed final_answer');
    });

    test('under older rules any result of it is enough', () => {
      const rules = CHANGES.unmetEvidence.since - 1;
      expect(after({ paid: false }, { rules })).toBe('evidence_missing order (read_order)');
    });
  });

  test('is an error to the model when its evidence is there already', () => {
    const outcomes = { read_order: [{ ok: 1 }, DOWN] };
    expect(ending({ task, model: turns('read_order', 'read_order'), outcomes })).toBe(
      'completed final_answer',
    );
  });
});

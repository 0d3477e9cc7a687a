import type { Criterion, Evidence } from '../../../core/state/task.js';
import { call, calls, says, type Script } from '../script.js';
import { createShell, executedOf, finish, started, transitionsOf } from '../shell.js';

const READ = calls(call('a', 'read_order'));

function play(script: Script) {
  const shell = createShell(script);
  return { shell, result: finish(shell) };
}

describe('required evidence', () => {
  const DELIVERED: Evidence = {
    id: 'delivered',
    satisfiedBy: 'read_order',
    predicate: { path: 'order.status', equals: 'delivered' },
  };

  function withStatus(...statuses: readonly string[]): Script {
    return {
      task: { requiredEvidence: [DELIVERED] },
      outcomes: { read_order: statuses.map((status) => ({ ok: { order: { status } } })) },
      model: [READ, says('done'), calls(call('b', 'read_order')), says('done'), says('done')],
    };
  }

  test('S18: a failed tool is no evidence, whatever the answer says', () => {
    const { result, shell } = play({
      task: { requiredEvidence: [{ id: 'order', satisfiedBy: 'read_order' }] },
      outcomes: { read_order: [{ error: 'down' }] },
      model: [READ, says('Order shipped'), says('Order shipped')],
    });
    expect(result.stopReason).toBe('evidence_missing');
    expect(transitionsOf(shell)).toEqual(['next_turn', 'completion_rejected']);
  });

  test('an observation that meets the predicate is enough', () => {
    expect(play(withStatus('delivered')).result).toMatchObject({
      stopReason: 'completed',
      counters: { modelCalls: 2 },
    });
  });

  test('one that does not meet it is not, until a later one does', () => {
    const { result, shell } = play(withStatus('lost', 'delivered'));
    expect(result.stopReason).toBe('completed');
    expect(transitionsOf(shell)).toEqual(['next_turn', 'completion_rejected', 'next_turn']);
  });

  test.each([['not json at all'], ['null'], ['[1]']])('%s proves nothing', (text) => {
    const { result } = play({
      task: { requiredEvidence: [DELIVERED] },
      outcomes: { read_order: [{ ok: text }] },
      model: [READ, says('done'), says('done')],
    });
    expect(result.stopReason).toBe('evidence_missing');
  });

  test('a result by reference proves what the activity says of the whole of it', () => {
    const content = { $blob: 'b'.repeat(64), bytes: 90_000, preview: '{"order"' };
    const script = (proves: readonly string[]): Script => ({
      task: { requiredEvidence: [DELIVERED] },
      outcomes: { read_order: [{ stored: content, proves }] },
      model: [READ, says('done'), says('done')],
    });
    expect(play(script(['delivered'])).result.stopReason).toBe('completed');
    expect(play(script([])).result.stopReason).toBe('evidence_missing');
    const { shell } = play(script([]));
    expect(started(shell, 'execute_tool')[0]?.input.proofs).toEqual([
      { id: 'delivered', when: DELIVERED.predicate },
    ]);
  });

  test('only calls of its tool carry a predicate', () => {
    const { shell } = play({
      task: { requiredEvidence: [DELIVERED] },
      model: [calls(call('a', 'lookup_order')), says('done'), says('done')],
    });
    expect(executedOf(shell)).toHaveLength(1);
    expect(started(shell, 'execute_tool')[0]?.input.proofs).toBeUndefined();
  });
});

describe('success criteria', () => {
  function judged(successCriteria: readonly Criterion[], more: Partial<Script> = {}) {
    return play({
      model: [READ, says('The total is 3.'), says('The total is 4.')],
      ...more,
      task: {
        requiredEvidence: [{ id: 'order', satisfiedBy: 'read_order' }],
        successCriteria,
        ...more.task,
      },
    });
  }

  test('an answer that does not meet them is sent back once, then the run stops', () => {
    const { result, shell } = judged([
      { id: 'five', description: 'the total is five', when: { path: 'answer', equals: 'five' } },
    ]);
    expect(result).toMatchObject({
      stopReason: 'evidence_missing',
      detail: 'success_criteria: five',
      partialOutput: { text: 'The total is 4.' },
    });
    expect(transitionsOf(shell)).toEqual(['next_turn', 'completion_rejected']);
    expect(shell.transcript.messages.at(-2)?.text).toContain('the total is five');
  });

  test('the corrected answer completes', () => {
    const { result } = judged([{ id: 'c', when: { path: 'answer', equals: 'The total is 4.' } }]);
    expect(result).toMatchObject({ stopReason: 'completed', answer: { text: 'The total is 4.' } });
  });

  test.each<[string, Criterion['when'], boolean]>([
    ['evidence', { path: 'evidence.order', equals: true }, true],
    ['other evidence', { path: 'evidence.other', exists: true }, false],
    ['a tool', { path: 'tools.read_order', exists: true }, true],
    ['a tool that must not have run', { path: 'tools.write_note', exists: false }, true],
    ['the state', { path: 'state.total', exists: true }, false],
    ['a prototype', { path: 'evidence.constructor', exists: true }, false],
  ])('they can look at %s', (_, when, holds) => {
    const { result } = judged([{ id: 'c', when }]);
    expect(result.stopReason).toBe(holds ? 'completed' : 'evidence_missing');
  });

  test('they can look into the output', () => {
    const output = { ok: true, value: { total: 3 } } as const;
    const answers = [READ, says('{"total":3}', { output }), says('{"total":3}', { output })];
    const ending = (gte: number) =>
      judged([{ id: 'big', when: { path: 'output.total', gte } }], {
        task: { outputSchema: { type: 'object' } },
        model: answers,
      }).result;
    expect(ending(3)).toMatchObject({ stopReason: 'completed', detail: 'output' });
    expect(ending(4).stopReason).toBe('evidence_missing');
  });

  test('a criterion can be one of the task’s own stop reasons', () => {
    const { result } = judged([{ id: 'policy_blocked', when: { path: 'answer', equals: 'x' } }], {
      task: { stopReasons: ['policy_blocked'] },
    });
    expect(result.detail).toBe('policy_blocked');
  });
});

describe('stop reasons of the task’s own', () => {
  const task = { stopReasons: ['policy_blocked'] };

  test('an escalation for one of them says so', () => {
    const ending = (escalation: string) =>
      play({ task, model: [says('', { escalation })] }).result.detail;
    expect(ending('policy_blocked')).toBe('policy_blocked');
    expect(ending('anything else')).toBe('escalated');
  });

  test('so does a terminal denial of the policy', () => {
    const { result } = play({
      task,
      policy: [{ tool: 'read_order', decision: 'deny', terminal: true, reason: 'policy_blocked' }],
      model: [READ],
    });
    expect(result).toMatchObject({ stopReason: 'refused', detail: 'policy_blocked' });
  });
});

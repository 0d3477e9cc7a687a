import { checkStart, type StartRequest } from '../../../client/runs/check-start.js';

function start(changes: object): StartRequest {
  return { agent: 'refund', task: { goal: 'Refund A-1' }, ...changes } as StartRequest;
}

describe('a start', () => {
  it('becomes the input of the workflow', () => {
    const given = start({ tenant: 'shop', budget: { maxTurns: 5, maxCostMicroUsd: 'unlimited' } });
    expect(checkStart(given)).toEqual({
      v: 1,
      agent: 'refund',
      tenant: 'shop',
      task: { goal: 'Refund A-1' },
      budget: { maxTurns: 5, maxCostMicroUsd: 'unlimited' },
    });
  });

  it('takes a bare text as the goal', () => {
    expect(checkStart({ agent: 'a', task: 'Do it' }).task).toEqual({ goal: 'Do it' });
  });

  it('takes everything that a task can say', () => {
    const task = {
      goal: 'x',
      taskId: 't-1',
      traceId: 'trace',
      caller: 'pat',
      constraints: ['be kind'],
      allowedActions: ['a'],
      forbiddenActions: ['b'],
      denied: '',
      requiredEvidence: [{ id: 'a', satisfiedBy: 'b', predicate: { path: 'x.y', lte: 3 } }],
      successCriteria: [{ id: 'a', description: 'd', when: { path: 'output.x', equals: null } }],
      stopReasons: ['policy_blocked'],
      outputSchema: { type: 'object' },
      metadata: { a: [1, null] },
    };
    expect(checkStart(start({ task })).task).toEqual(task);
  });

  it.each([
    ['a blank goal', { task: { goal: ' \n ' } }, 'task.goal'],
    ['no goal', { task: {} }, 'task.goal'],
    ['a goal that is no text', { task: { goal: 7 } }, 'task.goal'],
    ['no task', { task: null }, 'task'],
    ['a misspelt field', { task: { goal: 'x', constraint: ['y'] } }, '"constraint"'],
    ['a blank constraint', { task: { goal: 'x', constraints: ['ok', ''] } }, 'task.constraints.1'],
    ['an enormous goal', { task: { goal: 'x'.repeat(200_001) } }, 'task.goal'],
    [
      'evidence with a misspelt predicate',
      { task: { goal: 'x', requiredEvidence: [{ id: 'a', satisfiedBy: 'b', predicat: {} }] } },
      '"predicat"',
    ],
    [
      'a predicate that compares nothing',
      {
        task: {
          goal: 'x',
          requiredEvidence: [{ id: 'a', satisfiedBy: 'b', predicate: { path: 'x' } }],
        },
      },
      'task.requiredEvidence.0.predicate',
    ],
    [
      'a criterion about nothing the run has',
      { task: { goal: 'x', successCriteria: [{ id: 'a', when: { path: 'mood', exists: true } }] } },
      'task.successCriteria.0.when.path',
    ],
    [
      'an output schema that is a text',
      { task: { goal: 'x', outputSchema: '{}' } },
      'outputSchema',
    ],
    ['a stop reason that is blank', { task: { goal: 'x', stopReasons: [' '] } }, 'stopReasons.0'],
    ['metadata that is no JSON', { task: { goal: 'x', metadata: { a: () => 1 } } }, 'metadata'],
    [
      'metadata that is too large',
      { task: { goal: 'x', metadata: { a: 'x'.repeat(20_000) } } },
      'task.metadata',
    ],
    ['a budget that is no number', { budget: { maxTurns: Number.NaN } }, 'budget.maxTurns'],
    ['a negative budget', { budget: { maxToolCalls: -1 } }, 'budget.maxToolCalls'],
    ['an unknown budget', { budget: { maxTurn: 3 } }, 'maxTurn'],
    ['an unknown setting', { settings: { afterAnswr: 'complete' } }, 'settings.afterAnswr'],
    ['a setting of another kind', { settings: { afterAnswer: 7 } }, 'settings.afterAnswer'],
    ['settings by inheritance', { settings: JSON.parse('{"__proto__": {}}') }, '__proto__'],
    ['a budget that is no object', { budget: [] }, 'budget'],
    ['a Map as budget', { budget: new Map([['maxTurns', 3]]) }, 'budget'],
    ['a date as settings', { settings: new Date() }, 'settings'],
    [
      'settings that are a number beside another',
      { settings: 3, persistSession: true },
      'settings',
    ],
    ['a Map as sub-agent', { agents: { auditor: new Map() } }, 'agents.auditor'],
    ['null as tenant', { tenant: null }, 'tenant'],
    ['a blank agent', { agent: ' ' }, 'agent'],
    ['a tenant that is no key', { tenant: 'a/b' }, 'tenant'],
  ])('with %s is refused by name', (_, changes, named) => {
    expect(() => checkStart(start(changes))).toThrow(
      expect.objectContaining({ code: 'InvalidTask', message: expect.stringContaining(named) }),
    );
  });
});

test('what a class gives by getters is part of a start', () => {
  class Careful {
    get afterAnswer() {
      return 'complete' as const;
    }
  }
  const auditor = new (class {
    get description() {
      return 'Looks.';
    }
    get prompt() {
      return 'Look.';
    }
  })();
  const given = start({ settings: new Careful(), agents: { auditor } as never });
  expect(checkStart(given)).toMatchObject({
    settings: { afterAnswer: 'complete' },
    agents: { auditor: { description: 'Looks.', prompt: 'Look.' } },
  });
});

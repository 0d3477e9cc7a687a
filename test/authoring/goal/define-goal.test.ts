import { z } from 'zod';
import {
  days,
  defineAgent,
  defineConfig,
  defineGoal,
  defineTool,
  hours,
  usd,
  type GoalDeclaration,
} from '../../../authoring/index.js';
import { HoldfastError } from '../../../core/state/errors.js';

const count = defineTool({
  name: 'invoices.count',
  version: '1',
  effect: 'read',
  input: z.object({}),
  run: () => ({ count: 0 }),
});
const pay = defineTool({
  name: 'invoices.pay',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  input: z.object({}),
  run: () => null,
});
const agent = defineAgent({
  name: 'matcher',
  model: 'anthropic/claude-sonnet-4-5',
  instructions: 'Match invoices.',
});

const declared: GoalDeclaration = {
  name: 'march',
  objective: 'All invoices of March are matched.',
  agent,
  handoffTo: [agent],
  done: { all: [{ check: 'open', path: 'count', equals: 0 }] },
  validation: [{ name: 'open', tool: count, measure: { path: 'count', better: 'lower' } }],
  budget: { maxCostMicroUsd: usd(2), deadlineMs: days(30) },
  pace: { everyMs: hours(24) },
};

function refused(attempt: () => unknown, code: string, said: string): void {
  expect(attempt).toThrow(HoldfastError);
  expect(attempt).toThrow(said);
  try {
    attempt();
  } catch (error) {
    expect((error as HoldfastError).code).toBe(code);
    expect((error as HoldfastError).hint).toBeDefined();
  }
}

describe('defineGoal', () => {
  it('names agents and tools that are given whole, and fills in the defaults', () => {
    const goal = defineGoal(declared);
    expect(goal).toMatchObject({
      name: 'march',
      tools: [count],
      definition: {
        agent: 'matcher',
        handoffTo: ['matcher'],
        validation: [{ name: 'open', tool: 'invoices.count', input: {}, timeoutMs: 60_000 }],
        budget: { maxCostMicroUsd: 2_000_000, deadlineMs: 2_592_000_000 },
        cycle: { maxCostMicroUsd: 200_000 },
      },
    });
    expect(JSON.parse(JSON.stringify(goal.definition))).toEqual(goal.definition);
  });

  it('says whose field is wrong', () => {
    refused(
      () => defineGoal({ ...declared, objective: '' }),
      'InvalidTask',
      'Goal march: objective cannot be used: it must not be blank',
    );
    refused(
      () => defineGoal({ ...declared, name: 'two words' }),
      'InvalidTask',
      'The goal: name cannot be used',
    );
    refused(
      () => defineGoal({ ...declared, validation: [{ name: 'open', tool: pay }] }),
      'InvalidTask',
      "validation.0.tool cannot be used: invoices.pay is no read tool (its effect is 'financial')",
    );
    refused(() => defineGoal(undefined as never), 'InvalidTask', 'it must be an object');
  });
});

describe('goals of a configuration', () => {
  it('are found by name, and the worker serves the tools of their checks', () => {
    const config = defineConfig({ agents: [agent], goals: [defineGoal(declared)] });
    expect(config.goals.get('march')?.definition.agent).toBe('matcher');
    expect(config.tools.get('invoices.count@1')).toBe(count);
  });

  it('find the tools of their checks by name among those of agents and checks', () => {
    const goal = defineGoal({
      ...declared,
      validation: [{ name: 'open', tool: 'invoices.count' }],
    });
    const config = defineConfig({ agents: [agent], goals: [goal], checkTools: [count] });
    expect(config.tools.get('invoices.count@1')).toBe(count);
    refused(
      () => defineConfig({ agents: [agent], goals: [goal] }),
      'InvalidConfig',
      'its check open names the tool invoices.count, which is not there',
    );
  });

  it.each([
    [{ goals: [{}] }, 'One of the goals is no goal'],
    [{ goals: [defineGoal(declared), defineGoal(declared)] }, 'Two goals are named march'],
    [{ goals: [defineGoal({ ...declared, agent: 'other' })] }, 'names the agent other'],
    [{ checkTools: [pay] }, 'checkTools: invoices.pay is no read tool'],
    [{ checkTools: [null] }, 'checkTools: One of them is no read tool'],
  ])('are refused when they cannot work: %#', (over, said) => {
    refused(() => defineConfig({ agents: [agent], ...(over as object) }), 'InvalidConfig', said);
  });
});

/** Who may look at a desk where nobody says so: the roles whose word counts somewhere. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineGoal, defineTool, usd } from '../../../index.js';
import { decidersIn } from '../../../cli/desk/deciders.js';

test('roles of approvals, later approvals, budgets and goals decide', () => {
  const pay = defineTool({
    name: 'pay',
    version: '1',
    effect: 'send',
    idempotency: 'keyed',
    approval: { roles: ['clerk'], escalate: { afterMs: 60_000, roles: ['head'] } },
    input: z.object({}),
    run: () => 'paid',
  });
  const agent = defineAgent({
    name: 'payer',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Pay.',
    tools: [pay],
    settings: { budgetRoles: ['purse'] },
  });
  const goal = defineGoal({
    name: 'month',
    objective: 'All is paid.',
    agent,
    approval: [{ before: 'first_cycle', roles: ['starter'] }],
    reviewer: { roles: ['auditor'] },
    done: { any: [{ person: { roles: ['owner', 'head'], question: 'Is all paid?' } }] },
    budget: { maxCostMicroUsd: usd(1), budgetRoles: ['treasurer'] },
  });
  const config = defineConfig({ agents: [agent], goals: [goal] });
  expect([...decidersIn(config)].sort()).toEqual([
    'auditor',
    'clerk',
    'head',
    'owner',
    'purse',
    'starter',
    'treasurer',
  ]);
});

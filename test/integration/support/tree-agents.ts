/** Agents that have agents: what workers of tests about trees serve, in this process or in one of their own. */
import { defineAgent, defineConfig, type Config } from '../../../authoring/index.js';
import { config as served } from './agents.js';

/** An agent that has an auditor, which has a clerk. */
export function config(options: unknown): Config {
  const { tools } = servedAgent(served(options));
  const clerk = { description: 'Pays.', prompt: 'Pay.', tools: ['pay.asked', 'notes.write'] };
  const auditor = defineAgent({
    name: 'auditor',
    model: 'scripted/model',
    instructions: 'Audit.',
    tools,
    agents: { clerk },
  });
  return defineConfig({
    agents: [
      auditor,
      defineAgent({
        name: 'refund-desk',
        model: 'scripted/model',
        instructions: 'Serve the customer.',
        tools,
        agents: { auditor: { description: 'Checks an order.', agent: auditor } },
      }),
    ],
  });
}

function servedAgent(from: Config) {
  const agent = from.agents.get('desk');
  if (agent === undefined) throw new Error('There is no desk.');
  return agent;
}

/** Agents that have agents: what workers of tests about trees serve, in this process or in one of their own. */
import { defineAgent, defineConfig, type Config } from '../../../authoring/index.js';
import { config as served } from './agents.js';

/** An agent that has an auditor, which has a clerk; one works at a time. */
export const TREE_AGENT = 'refund-desk';
/** The same with many at once. */
export const HALL = 'refund-hall';

/** It gives its task to a run of its own. */
export const HANDING_AGENT = 'hander';

/** Loaded by worker processes too, which need nothing else of the tests. */
const HEARTBEATS = { repeatable: 5_000, single: 5_000 } as const;
const MODEL = { model: 'scripted/model', settings: { heartbeatMs: HEARTBEATS } } as const;
const AT_ONCE = { toolExecution: 'batched' } as const;
/** Of what many share: enough for each to lose a request in the middle of its reply, which counts by its bound. */
const OF_AUDITOR = { maxCostMicroUsd: 20_000_000 } as const;
const OF_HALL = { maxCostMicroUsd: 200_000_000 } as const;

export function config(options: unknown): Config {
  const { tools } = servedAgent(served(options));
  const clerk = { description: 'Pays.', prompt: 'Pay.', tools: ['pay.asked', 'notes.write'] };
  const auditor = defineAgent({
    name: 'auditor',
    ...MODEL,
    instructions: 'Audit.',
    tools,
    agents: { clerk },
  });
  const hallAuditor = defineAgent({
    name: 'hall-auditor',
    ...MODEL,
    settings: { ...MODEL.settings, ...AT_ONCE },
    budget: OF_AUDITOR,
    instructions: 'Audit.',
    tools,
    agents: { clerk: { ...clerk, parallel: true } },
  });
  const root = { ...MODEL, instructions: 'Serve the customer.', tools };
  return defineConfig({
    agents: [
      auditor,
      hallAuditor,
      defineAgent({
        name: HANDING_AGENT,
        ...root,
        handoffTo: [{ agent: 'note-writer', run: 'new' }],
      }),
      defineAgent({ name: 'note-writer', ...root }),
      defineAgent({
        name: TREE_AGENT,
        ...root,
        agents: { auditor: { description: 'Checks an order.', agent: auditor } },
      }),
      defineAgent({
        name: HALL,
        ...root,
        settings: { ...MODEL.settings, ...AT_ONCE },
        budget: OF_HALL,
        agents: {
          auditor: { description: 'Checks an order.', agent: hallAuditor, parallel: true },
        },
        agentLimits: { atOnce: 20 },
      }),
    ],
  });
}

function servedAgent(from: Config) {
  const agent = from.agents.get('desk');
  if (agent === undefined) throw new Error('There is no desk.');
  return agent;
}

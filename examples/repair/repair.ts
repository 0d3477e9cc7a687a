/** The agent that repairs, and the goal that says when the repository is repaired. */
import {
  defineAgent,
  defineConfig,
  defineGoal,
  minutes,
  type Config,
  type DefinedGoal,
} from '../../index.js';
import type { Judging } from './judge-repository.js';
import { TESTS } from './project.js';
import { repairTools } from './tools.js';
import type { Workshop } from './workshop.js';

const MODEL = 'anthropic/claude-sonnet-5-5';

export interface Repair {
  readonly config: Config;
  readonly goal: DefinedGoal;
}

export function repairOf(judging: Judging & { readonly workshop: Workshop }): Repair {
  const tools = repairTools(judging);
  const agent = defineAgent({
    name: 'repairer',
    model: MODEL,
    instructions: [
      'You repair a small JavaScript repository: all its tests shall pass and its linter shall be silent.',
      'Read a failing test and the code that it is about, change the code in src/ by small patches, run the tests.',
      'The tests and the rules of the linter are right. The ones that count lie outside of the repository.',
      'Repair one file in a cycle, then end your turn with one sentence about what you did.',
    ].join('\n'),
    tools: Object.values(tools),
  });
  const goal = defineGoal({
    name: 'repair',
    objective: 'All tests of the repository pass, and its linter is silent.',
    constraints: ['Only files in src/ need to change.'],
    agent,
    // Beliefs of the goal itself: it runs these checks, no model does.
    validation: [
      {
        name: 'tests',
        tool: tools.runTests,
        timeoutMs: minutes(2),
        measure: { path: 'failed', better: 'lower' },
      },
      {
        name: 'lint',
        tool: tools.runLint,
        timeoutMs: minutes(1),
        measure: { path: 'findings', better: 'lower' },
      },
    ],
    done: {
      all: [
        { check: 'tests', path: 'failed', equals: 0 },
        // No failures among no tests is nothing.
        { check: 'tests', path: 'passed', gte: TESTS },
        { check: 'lint', path: 'findings', equals: 0 },
      ],
    },
    budget: { maxCostUsd: 3, maxCycles: 10 },
    cycle: { maxCostUsd: 0.3, maxTurns: 15 },
    stopRules: { noProgressCycles: 3 },
  });
  return { goal, config: defineConfig({ agents: [agent], goals: [goal] }) };
}

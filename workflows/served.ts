/** The workflows that a worker serves. */
export { agentRun } from './agent-run.js';
export { goalRun } from './goal-run.js';

/** The story of a task that a run hands to another run, which writes a note. */
import { config, HANDING_AGENT } from './tree-agents.js';
import { ENDED_LIMIT_MS, WORKFLOW_TASK_TIMEOUT, type Tale, type Telling } from './killed-stage.js';
import { playedTogether, type TreePlayed } from './killed-tree.js';
import { call, say, type World } from './world.js';

export const HANDOFF: Tale = {
  wire: {
    runId: /(killed-\d{3})((?::h\d+)*)/,
    activity: /prepare_handoff|open_run|call_model|execute_tool|reconcile_tool|flush|close_run/,
    decision: /agentRun|prepare_handoff/,
  },
  served: { module: require.resolve('./tree-agents.ts'), config },
  start,
  inside: (_stage, _runId, what) => {
    throw new Error(`no handoff is ${what}`);
  },
  people: () => () => Promise.resolve(),
  observed,
};

async function start(world: World, { runId, taskQueue }: Telling): Promise<void> {
  const summary = 'Write it down.';
  world.script(runId, [call('handoff', { to: 'note-writer', summary })]);
  world.script(`${runId}:h1`, ({ assistantMessages }) =>
    assistantMessages === 0 ? call('notes.write', { item: 'order' }) : say('Written.'),
  );
  await world.raw.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    args: [{ v: 1, agent: HANDING_AGENT, task: { goal: 'Serve the customer.' } }],
  });
}

async function observed(world: World, root: string): Promise<TreePlayed> {
  const limits = { timeoutMs: ENDED_LIMIT_MS };
  const { handedTo } = await world.client.handle(root).result(limits);
  const other = handedTo?.runId ?? `${root}:nobody`;
  await world.client.handle(other).result(limits);
  return playedTogether(world, [root, other], []);
}

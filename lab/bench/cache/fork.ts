/** A fork of a played run, begun as a client begins one: its state lies in the store, and another run opens from there. */
import { open } from '../../../core/loop/open.js';
import type { Fork } from '../../../core/state/fork.js';
import type { Run } from '../../../core/state/run.js';
import type { Store } from '../../../store/store.js';

const SAID = 'Look at the whole order before you answer.';
/** The bench looks at no record. */
const STEP = 1;

export async function beginFork(run: Run, store: Store): Promise<Run> {
  const { tenant, runId: parent } = run;
  const runId = `${parent}-fork`;
  const at = Date.now();
  const fork: Fork = { run, step: STEP, outcomes: {}, message: SAID };
  const body = JSON.stringify(fork);
  const digest = await store.putFork({ tenant, runId, parent, step: STEP, body, at });
  const { agent, task } = run.start;
  const start = { agent, task: { goal: task.goal, taskId: runId } };
  return open({ v: 1, ...start, fork: { id: parent, step: STEP, digest } }, { runId, at });
}

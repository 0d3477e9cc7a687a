/** Forks of recorded runs in a world: made by the command, decided, exported. */
import { runCli } from '../../../cli/program.js';
import type { RunHandle } from '../../../client/runs/run-handle.js';
import { foldOf, type RunFold } from '../../../recording/fold.js';
import type { Bundle } from '../../../replay/bundle.js';
import { exportRun } from '../../../replay/export-run.js';
import { APPROVER } from './agents.js';
import { PATIENT } from './patience.js';
import { ofType, TASK_QUEUE, until, type World } from './world.js';

const DESK = { v: 1, ...APPROVER } as const;

export type Decision = 'approve' | 'reject';

export function exported(world: World, runId: string): Promise<Bundle> {
  return exportRun({ ...world.place, store: world.store }, { tenant: 'default', runId });
}

export interface Recorded {
  readonly fold: RunFold;
  readonly bundle: Bundle;
}

export async function recordOf(world: World, runId: string): Promise<Recorded> {
  const bundle = await exported(world, runId);
  const fold = foldOf(bundle);
  if (fold.kind !== 'run') throw new Error('not a run');
  return { fold, bundle };
}

export async function holdfast(world: World, ...words: readonly string[]) {
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--task-queue', TASK_QUEUE];
  let [out, err] = ['', ''];
  const code = await runCli(
    [...words, ...place, '--store', world.storePlace, ...(words[0] === 'show' ? [] : ['--json'])],
    {
      environment: { variables: {}, folder: '.', colour: false, interactive: false, ...PATIENT },
      streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
    },
  );
  return { code, out, err };
}

/** Run id of a live fork. */
export async function forked(world: World, ...words: readonly string[]): Promise<string> {
  const { code, out, err } = await holdfast(world, 'fork', ...words, '--live');
  if (code !== 0) throw new Error(out + err);
  return (JSON.parse(out) as { runId: string }).runId;
}

/** A run to its end, with one answer to each question; gives the questions. */
export async function decided(world: World, run: RunHandle, decision: Decision) {
  const answered = new Set<string>();
  await until('the run to end', async () => {
    const events = await world.events(run.runId);
    for (const { askId, argsHash } of ofType(events, 'approval_requested')) {
      if (answered.has(askId)) continue;
      answered.add(askId);
      await run.decide({ ...DESK, askId, argsHash, decision, decidedAt: Date.now() });
    }
    return events.some(({ type }) => type === 'run_result') || undefined;
  });
  // The result is told before the workflow task that closes the history.
  await world.raw.workflow
    .getHandle(run.runId)
    .result()
    .catch(() => undefined);
  return ofType(await world.events(run.runId), 'approval_requested');
}

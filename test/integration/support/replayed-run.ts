/** A run of a real server as its history and its bundle say it. */
import { historyJson } from '../../../activities/history-json.js';
import { foldOf } from '../../../recording/fold.js';
import type { HistoryEvent } from '../../../recording/history.js';
import type { Bundle } from '../../../replay/bundle.js';
import { exportRun } from '../../../replay/export-run.js';
import { replayRun } from '../../../replay/strict-replay.js';
import type { History, World } from './world.js';

/** In Temporal's JSON. */
export function eventsOf(history: History): readonly HistoryEvent[] {
  return (JSON.parse(historyJson().write(history)) as { events: readonly HistoryEvent[] }).events;
}

/** The bundle of a run of `world`, as its server has it. */
export function bundleOf(world: World, runId: string): Promise<Bundle> {
  return exportRun({ ...world.place, store: world.store }, { tenant: 'default', runId });
}

/** Replays strictly, and is folded to its end. */
export async function expectReplays(bundle: Bundle): Promise<void> {
  expect(await replayRun(bundle)).toMatchObject({ equal: true, differences: [] });
  expect(foldOf(bundle).divergences).toEqual([]);
}

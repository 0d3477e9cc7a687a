/**
 * For `npm run seal -- record --from`: with HOLDFAST_BUNDLES every world leaves the bundles of its runs in that folder,
 * and with HOLDFAST_RULES its workers open them under an older rules number.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Client } from '@temporalio/client';
import { createActivities, type ActivityDeps } from '../../../activities/index.js';
import type { Activities } from '../../../core/state/effect.js';
import { bundleText } from '../../../replay/bundle.js';
import { exportRun } from '../../../replay/export-run.js';
import type { Store } from '../../../store/store.js';
import type { ServerPlace } from './server.js';

const TENANT = 'default';

interface Leaving {
  readonly raw: Client;
  readonly place: ServerPlace;
  readonly store: Store;
}

/** Activities of the rules number that is recorded; undefined: the newest. */
export function activitiesRecorded(): ((deps: ActivityDeps) => Activities) | undefined {
  const rules = process.env['HOLDFAST_RULES'];
  return rules === undefined
    ? undefined
    : (deps) => createActivities({ ...deps, rules: Number(rules) });
}

export async function leaveBundles({ raw, place: server, store }: Leaving): Promise<void> {
  const folder = process.env['HOLDFAST_BUNDLES'];
  if (folder === undefined) return;
  const test = basename(expect.getState().testPath ?? 'test').split('.')[0]!;
  for await (const { workflowId, type } of raw.workflow.list()) {
    if (type !== 'agentRun' && type !== 'goalRun') continue;
    const place = { ...server, store };
    const run = { tenant: TENANT, runId: workflowId };
    // A run that is broken on purpose has no bundle.
    const bundle = await exportRun(place, run).catch(() => undefined);
    if (bundle === undefined) continue;
    const name = `${test}-${workflowId}`.replace(/[^\w.-]/g, '_');
    writeFileSync(join(folder, `${name}.json`), bundleText(bundle));
  }
}

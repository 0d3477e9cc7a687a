/** Where a fork begins of a run that a server holds. */
import { HoldfastError } from '../../core/state/errors.js';
import { foldOf } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import type { ForkPlace } from './prepare.js';

/** Errors: those of `exportRun`; StepNotFound; ForkRefused for a goal, and for a run of another tenant. */
export async function placeIn(
  from: Parameters<typeof exportRun>[0],
  run: Bundle['run'],
  at: number | 'last',
): Promise<ForkPlace> {
  const bundle = await exportRun(from, run);
  const fold = foldOf(bundle);
  if (fold.kind === 'goal') {
    throw refused(
      `${run.runId.slice(0, ID_CHARS)} is a goal, and this forks runs.`,
      'Fork the run of one of its cycles, or the goal with `holdfast fork`.',
    );
  }
  const step = at === 'last' ? fold.steps.length : at;
  // The server may have another one of this id by now.
  if (fold.at(step).after.tenant !== run.tenant) {
    throw refused('The run is not there.', 'Choose another run.');
  }
  return { fold, bundle, step };
}

const ID_CHARS = 100;

function refused(reason: string, hint: string): HoldfastError {
  return new HoldfastError('ForkRefused', reason, { hint });
}

/** Stands in for core/step/changes.ts in a replay: tells what is asked, and turns one answer round. */
import {
  follows as truly,
  knows as trulyKnows,
  type ChangeName,
} from '../../../core/step/changes.js';
import type { Run } from '../../../core/state/run.js';
import { sawQuestion } from './seen.js';

// The names of this module win over those that it passes on.
export * from '../../../core/step/changes.js';

/** Replaced in the bundle's text by the name of a change. */
const REVERSED: string = '__REVERSED__';

export function follows(run: Pick<Run, 'rules'>, change: ChangeName): boolean {
  return witnessed(change, truly(run, change));
}

export function knows(
  run: Pick<Run, 'rules' | 'begunWith' | 'frozen'>,
  change: ChangeName,
): boolean {
  return witnessed(change, trulyKnows(run, change));
}

function witnessed(change: ChangeName, holds: boolean): boolean {
  sawQuestion(change, holds);
  return change === REVERSED ? !holds : holds;
}

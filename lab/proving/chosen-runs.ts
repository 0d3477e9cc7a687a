/** Which runs of a recording are played. */
import { HoldfastError } from '../../core/state/errors.js';
import type { Domain } from './domains/domain.js';
import { isPlayable, playedRun, type PlayedRun } from './played-run.js';
import type { Recording } from './recording.js';
import type { RecordedRun } from './recorded-run.js';

export interface Choice {
  readonly domain: Domain;
  readonly recording: Recording;
  /** Which runs; default all. */
  readonly choose?: (run: Pick<RecordedRun, 'id'>) => boolean;
  /** Of the first so many. */
  readonly runsMax?: number;
  /** What a person who watches should know. */
  readonly say: (line: string) => void;
}

const LEFT_OUT_SHOWN_MAX = 10;

/** The runs to play. What cannot be played is left out and named. Errors: InvalidTask when none is left. */
export function chosenRuns({
  recording,
  domain,
  runsMax,
  choose = () => true,
  say,
}: Choice): readonly PlayedRun[] {
  const wanted = recording.runs.slice(0, runsMax).filter(choose);
  const runs = wanted.map((run) => playedRun(run, domain));
  const leftOut = runs.flatMap((run) => (isPlayable(run) ? [] : [run]));
  for (const { id, unplayable } of leftOut.slice(0, LEFT_OUT_SHOWN_MAX)) {
    say(`left out ${id}: ${unplayable}`);
  }
  const unsaid = leftOut.length - LEFT_OUT_SHOWN_MAX;
  if (unsaid > 0) say(`left out ${unsaid} more`);
  const playable = runs.filter(isPlayable);
  if (playable.length > 0) return playable;
  const [first] = leftOut;
  const why = first === undefined ? '' : ` Run ${first.id}: ${first.unplayable}.`;
  throw new HoldfastError('InvalidTask', `The recording has no such run to play.${why}`);
}

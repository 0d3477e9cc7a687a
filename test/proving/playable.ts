import type { Domain } from '../../lab/proving/domains/domain';
import { isPlayable, playedRun, type PlayedRun } from '../../lab/proving/played-run';
import type { RecordedRun } from '../../lab/proving/recorded-run';

/** A recorded run that a test knows to be playable. */
export function playable(run: RecordedRun, domain: Domain): PlayedRun {
  const played = playedRun(run, domain);
  if (!isPlayable(played)) throw new Error(`${played.id}: ${played.unplayable}`);
  return played;
}

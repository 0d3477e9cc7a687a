/** Why a recorded run is no case, in words of the command. */
import { HoldfastError } from '../../core/state/errors.js';
import type { Difference } from '../../evaluation/compare.js';
import type { Bundle } from '../../replay/bundle.js';
import { inert, inertInline } from '../render/index.js';

interface OpenGoal {
  readonly what: string;
  readonly cycle?: number;
}

/** What of a goal had not ended when the goal was recorded; undefined: all of it had, or it is a run. */
export function openIn({ events }: Bundle): OpenGoal | undefined {
  const last = events.findLast(({ type }) => GOAL_MARKS.includes(type));
  if (last?.type === 'cycle_started')
    return { what: `its cycle ${last.n} has not ended`, cycle: last.n };
  return last === undefined || last.type === 'goal_result'
    ? undefined
    : { what: 'it has no result' };
}

const GOAL_MARKS: readonly string[] = [
  'goal_started',
  'cycle_started',
  'cycle_ended',
  'goal_sleeping',
  'goal_result',
];

/** Whatever it waits for, such as a person: a case would need what it had not said yet. */
export function goalNotEnded({ what, ...details }: OpenGoal): HoldfastError {
  return new HoldfastError('CaptureRefused', `The goal cannot be made into a case: ${what}.`, {
    hint: `Capture the goal when it has ended (\`holdfast goal show\` says what it waits for), or what was before with --until STEP.`,
    details,
  });
}

/**
 * A case that does not pass as recorded would accuse the code of what nobody has recorded. Of a redacted bundle the played
 * value is not told: this release may make anew what the bundle hides, such as the text of a limit.
 */
export function notAsRecorded([first]: readonly Difference[], isRedacted: boolean): HoldfastError {
  const { path, expected, observed } = first!;
  if (path === 'engine' && !isRedacted)
    return notPlayed(typeof observed === 'string' ? observed : inertInline(observed));
  const played = isRedacted ? 'another value' : inertInline(observed, 200);
  const words = `${path}: recorded ${inertInline(expected, 200)}, played ${played}`;
  return new HoldfastError(
    'CaptureRefused',
    `The run cannot be made into a case: played by this release it goes otherwise than it was recorded (${words}).`,
    {
      hint: isRedacted
        ? 'The bundle is redacted. This release makes some texts anew, such as the text of a limit, and a hidden text may not fit the schema that checks it any more, such as an order number. Capture with rules that hide other texts.'
        : '`holdfast replay` says whether the code decides otherwise today; if it does not, the run did what no case can say.',
      details: { path },
    },
  );
}

/** Not the run is at fault, but where it is played. */
function notPlayed(why: string): HoldfastError {
  return new HoldfastError(
    'CaptureRefused',
    `The case cannot be played here, so it is not written: ${inert(why, 400)}`,
    {
      hint: 'Capture again; where the message names a fault, mend that first.',
      details: { path: 'engine' },
    },
  );
}

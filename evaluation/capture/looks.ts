/** The supervisor of a recorded run as the script of a case. */
import type { FixtureDocument } from '../format/document.js';
import { ofKind, outputOf, type Recording } from './recording.js';

type Supervise = NonNullable<FixtureDocument['supervise']>;
type Look = Supervise['says'][number];

/** Undefined: nobody supervised the run. */
export function superviseScript(recording: Recording): Supervise | undefined {
  const { supervisor } = recording.frozen;
  if (supervisor === undefined) return undefined;
  const { agent, everyTurns, on, roles } = supervisor;
  const says = ofKind(recording, 'ask_supervisor').map(({ activity }): Look => {
    const output = outputOf(activity, 'ask_supervisor');
    if (output === undefined) {
      return {
        error: activity.end.kind === 'failed' ? activity.end.message : 'The look was cut off.',
      };
    }
    const { word, usage } = output;
    return word === undefined
      ? { answer: 'This answer is not recorded, and was none.', usage: { ...usage } }
      : { ...word, usage: { ...usage } };
  });
  return {
    name: agent.name,
    ...(everyTurns !== undefined && { every: { turns: everyTurns } }),
    ...(on !== undefined && { on: [...on] }),
    ...(roles.length > 0 && { roles: [...roles] }),
    says: says.length > 0 ? says : [{ decision: 'go_on' }],
  };
}

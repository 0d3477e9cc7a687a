/** What a person said to a recorded goal, in the words of a case. */
import type { GoalMessage } from '../../core/state/goal/message.js';
import type { WrittenAction } from '../format/during.js';
import type { GoalRecording } from './goal-recording.js';
import { refused } from './refused.js';

interface Words {
  readonly actions: readonly WrittenAction[];
}

/** A text: why it is left out. Errors: `CaptureRefused` for what a case cannot say. */
export function goalActions(recording: GoalRecording, message: GoalMessage): Words | string {
  const by = String(message.by).slice(0, 100);
  if (recording.terms.requireProof && !isHeeded(recording, message))
    return `a word of ${by} that nobody had proven`;
  return { actions: wordsOf(message) };
}

function wordsOf(message: GoalMessage): readonly WrittenAction[] {
  switch (message.type) {
    case 'steer': {
      const said: WrittenAction = { steer: message.text };
      return message.wake === true ? [said, { wake: true }] : [said];
    }
    case 'pause':
      return [{ pause: true }];
    case 'resume':
      return [{ resume: true }];
    case 'wake':
      return [{ wake: true }];
    case 'stop':
      return [{ stop: true }];
    case 'cancel':
      return [{ cancel: true }];
    case 'review': {
      const { objectiveValid, because } = message;
      const word = {
        ...(objectiveValid !== undefined && { objectiveValid }),
        ...(because !== undefined && { because }),
      };
      return [{ review: Object.keys(word).length === 0 ? true : word }];
    }
    case 'setBudget':
      return [{ setBudget: { ...message.budget } as WrittenAction['setBudget'] }];
    case 'setPlan':
      return [{ setPlan: message.steps.map(stepOf) }];
    case 'setPace':
      throw refused('a person set another pace on the way');
    case 'handoffGoal':
      throw refused(`a person handed it to the goal ${message.goalId}`);
    default:
      return [];
  }
}

type Step = Extract<GoalMessage, { readonly type: 'setPlan' }>['steps'][number];

function stepOf({ id, title, status, note, evidence }: Step) {
  return {
    id,
    title,
    status,
    ...(note !== undefined && { note }),
    ...(evidence !== undefined && { evidence: [...evidence] }),
  };
}

/** Whoever proved who they were: the goal tells of it. */
function isHeeded({ bundle }: GoalRecording, { by, type }: GoalMessage): boolean {
  if (type === 'wake' || type === 'stop' || type === 'cancel') return true;
  return bundle.events.some(
    (event) =>
      event.type === 'goal_steered' &&
      event.by === by &&
      event.control === (type === 'steer' ? undefined : type),
  );
}

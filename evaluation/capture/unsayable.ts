/** What no case can say of a recorded run, by name. */
import { MESSAGE_TOOL } from '../../core/state/mail.js';
import { textAt } from '../../recording/history.js';
import { isCycle } from './cycle.js';
import { resultIn } from './expectation.js';
import { ofKind, outputOf, type Recording } from './recording.js';
import { refused } from './refused.js';
import type { Tree } from './tree.js';

/** A model was asked: else the time of the run was over before anything that a case can say. */
export function worked({ activities }: Recording): boolean {
  return activities.some(({ kind }) => kind === 'call_model');
}

/** Errors: `CaptureRefused`. */
export function refuseUnsayable(tree: Tree): void {
  const { root, members } = tree;
  const { start, opened } = root;
  if (start.parent?.kind === 'run') throw refused(`it is a sub-agent of ${start.parent.id}`);
  if (start.parent?.kind === 'handoff')
    throw refused(
      `it has the task of ${start.parent.id}`,
      `Capture that run with everything below it: \`holdfast capture ${start.parent.id}\`.`,
    );
  if (isCycle(root) && !worked(root))
    throw refused('its model was never asked, and the brief is recorded only where it was');
  if (opened.denied !== undefined) {
    throw refused('a gate of its configuration refused the task (refuseTask)');
  }
  if (members.length === 0) refuseLetters(root);
  if (isOverTogether(root))
    throw refused('its time was over in the moment in which an answer arrived');
  if ([root, ...members.map(({ recording }) => recording)].some(hasFiles))
    throw refused('it has files beside its texts');
  refuseUsedUp(tree);
  for (const { place, recording } of members) refuseBelow(place, recording);
}

const hasFiles = ({ bundle }: Recording): boolean =>
  bundle.events.some((event) => 'attachments' in event);

/** A call that its claim refused is one of the case; before the question only the totals of the store refuse it. */
function refuseUsedUp({ root, members }: Tree): void {
  const events = [root, ...members.map(({ recording }) => recording)].flatMap(
    ({ bundle }) => bundle.events,
  );
  const denied = events.find((event) => event.type === 'permission' && event.rule === 'limits');
  if (denied === undefined) return;
  const tool = 'tool' in denied ? String(denied.tool) : 'a tool';
  throw refused(
    `other runs had used up a limit of ${tool} before anybody was asked, and the store of a case has no other runs`,
  );
}

/** The others of a tree are there to write again. */
function refuseLetters(recording: Recording): void {
  const { heard, activities } = recording;
  if (heard.some(({ name }) => name === 'mail'))
    throw refused('other agents of its tree wrote letters to it');
  if (!isCycle(recording)) return;
  if (activities.some(({ input }) => textAt(input, 'call', 'tool') === MESSAGE_TOOL))
    throw refused('its agent wrote letters to other agents');
}

function refuseBelow(place: string, recording: Recording): void {
  const of = `the run below it, ${place}`;
  const { frozen, bundle, opened } = recording;
  if (opened.denied !== undefined) throw refused(`a gate refused the task of ${of} (refuseTask)`);
  if (frozen.supervisor !== undefined) throw refused(`another agent looked at ${of}`);
  if (ofKind(recording, 'compact').length > 0)
    throw refused(`the conversation of ${of}, was summarised`);
  if (resultIn(bundle.events)?.stopReason === 'timeout') throw refused(`time ended ${of}`);
  const ran = ofKind(recording, 'call_model').some(
    ({ activity }) => (outputOf(activity, 'call_model')?.reply.hosted?.calls ?? []).length > 0,
  );
  if (ran) throw refused(`a vendor ran tools of ${of}`);
}

/** A busy worker heard of an answer and of the end of its time at once. In a case one of them comes first. */
function isOverTogether({ bundle, activities }: Recording): boolean {
  const stop = bundle.events.find(({ type }) => type === 'stop');
  return (
    resultIn(bundle.events)?.stopReason === 'timeout' &&
    activities.some(
      ({ kind, end, heardAt }) =>
        (kind === 'call_model' || kind === 'execute_tool') &&
        end.kind === 'completed' &&
        heardAt === stop?.stamp.at,
    )
  );
}

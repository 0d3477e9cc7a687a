/**
 * What was said to a recorded run, and at which moment of the case it is said again.
 * Invariant: a moment is one that both engines know: a question, a model call, a call of a tool, a hook.
 */
import type { Decision } from '../../core/state/ask.js';
import type { RunEvent } from '../../core/state/event.js';
import { isRecord } from '../../core/json/shape.js';
import type { WrittenAction, WrittenPattern } from '../format/during.js';
import type { FixtureDocument } from '../format/document.js';
import { asksIn, decisionOf, type AskEvent } from './asked.js';
import type { Heard } from './heard.js';
import {
  isOpenAt,
  isTogether,
  nearest,
  ofAsk,
  STOPS,
  whenEnded,
  whileFlying,
} from './moment-places.js';
import { momentBelow } from './moments-below.js';
import type { Recording } from './recording.js';
import { refused } from './refused.js';
import type { Member, Tree } from './tree.js';

type Written = NonNullable<FixtureDocument['during']>[number];

export interface CapturedMoments {
  readonly during: readonly Written[];
  readonly leftOut: readonly string[];
}

export function momentsOf({ root: recording, members }: Tree): CapturedMoments {
  const during: Written[] = [];
  const leftOut: string[] = [];
  for (const heard of heardOnce(recording)) {
    const said = actionOf(recording, heard);
    if (said === 'nothing') continue;
    if (isBehindEnd(recording, heard)) {
      leftOut.push(`the ${heard.name} that came when the run was over`);
      continue;
    }
    if (said === 'late' || said === 'unasked') {
      const why = said === 'late' ? 'that came too late' : 'about a question that was never asked';
      leftOut.push(`a decision of ${speakerOf(heard)} ${why}`);
      continue;
    }
    if (said === undefined) {
      leftOut.push(`the signal ${heard.name.slice(0, 100)}, which runs do not know`);
      continue;
    }
    during.push({ on: patternOf({ recording, members }, heard, said.ask), do: [said.action] });
  }
  return { during, leftOut };
}

/** A stop behind the end, as of a page that closes what it has interrupted, stops nothing: a moment of it would be an earlier one. */
function isBehindEnd({ bundle: { events } }: Recording, { name, at }: Heard): boolean {
  const end = events.find(({ type }) => type === 'run_result');
  return end !== undefined && STOPS.includes(name) && at > end.stamp.at;
}

/** To a run below that of the case: what people answered to its questions; nothing else is said of it there. */
export function momentsBelow({ place, recording }: Member): CapturedMoments {
  const { events } = recording.bundle;
  const during: Written[] = [];
  const leftOut: string[] = [];
  for (const heard of heardOnce(recording)) {
    // A parent tells its sub-agents again; what came when it was over changed nothing.
    if (heard.byWorkflow === true || heard.at > events.at(-1)!.stamp.at) continue;
    const said = actionOf(recording, heard);
    const name = heard.name.slice(0, 100);
    if (said === 'nothing') continue;
    if (said === 'late' || said === 'unasked' || said === undefined) {
      leftOut.push(`the signal ${name} to its run ${place}, which changed nothing`);
      continue;
    }
    const { ask, action } = said;
    if (ask?.callId === undefined || !isOpenAt(ask, heard, events))
      throw refused(`people said ${name} to the run below it, ${place}`);
    during.push({ on: { ...ofAsk(ask, events), run: place }, do: [inRun(action, place)] });
  }
  return { during, leftOut };
}

function inRun(action: WrittenAction, run: string): WrittenAction {
  const { resolveApproval, provideInput } = action;
  if (resolveApproval !== undefined) return { resolveApproval: { ...resolveApproval, run } };
  return provideInput === undefined ? action : { provideInput: { ...provideInput, run } };
}

/** To a run and to a goal: each has an id. */
const MESSAGES: readonly string[] = ['userMessage', 'goalMessage', 'tellGoal'];

/** What was heard; delivered twice, it counts once. */
export function* heardOnce({ heard }: Pick<Recording, 'heard'>): Generator<Heard> {
  const known = new Set<string>();
  for (const one of heard) {
    const name = nameOf(one);
    if (name !== undefined && known.has(name)) continue;
    if (name !== undefined) known.add(name);
    yield one;
  }
}

/** What names a message among all that were delivered. */
function nameOf({ name, value }: Heard): string | undefined {
  if (!isRecord(value)) return undefined;
  const { id, nonce } = value;
  const own = MESSAGES.includes(name) ? id : nonce;
  return typeof own === 'string' ? `${name} ${own}` : undefined;
}

function speakerOf({ value }: Heard): string {
  return isRecord(value) && typeof value.by === 'string' ? value.by.slice(0, 100) : 'somebody';
}

interface Said {
  readonly action: WrittenAction;
  /** The question that it answers. */
  readonly ask?: AskEvent | undefined;
}

export function actionOf(
  { bundle, frozen }: Recording,
  { name, value }: Heard,
): Said | 'nothing' | 'late' | 'unasked' | undefined {
  const fields = isRecord(value) ? value : {};
  const ask = asksIn(bundle.events).find(({ askId }) => askId === fields.askId);
  switch (name) {
    case 'decide':
    case 'resolveApproval':
      if (ask === undefined) return 'unasked';
      if (Number(fields.decidedAt) > ask.expiresAt) return 'late';
      if (frozen.settings.requireProof && !wasHeeded(fields.by, ask, bundle.events))
        return 'nothing';
      return { action: { resolveApproval: decisionOf(value as unknown as Decision, ask) }, ask };
    case 'provideInput':
      if (ask === undefined || fields.value === '') return undefined;
      return ask.callId === undefined
        ? { action: { answerSupervisor: spoken(fields.value) }, ask }
        : { action: { provideInput: { call: ask.callId, value: fields.value } }, ask };
    case 'userMessage':
      return typeof fields.text === 'string' ? { action: { userMessage: fields.text } } : undefined;
    case 'interrupt':
    case 'cancel':
    case 'close':
      return { action: { [name]: true } };
    case 'setModel':
      return typeof value === 'string' ? { action: { setModel: value } } : undefined;
    case 'setPermissionMode':
      return { action: { setPermissionMode: value } as WrittenAction };
    case 'setMaxThinkingTokens':
      return { action: { setMaxThinkingTokens: value } as WrittenAction };
    // Segments are the shell's: a case has one unless it asks for more.
    case 'nextSegment':
      return 'nothing';
    // What runs of a tree tell each other they tell each other again.
    case 'mail':
    case 'childEnded':
    case 'modesAbove':
    case 'tellEnd':
    case 'wantsMoney':
    case 'moneyAnswer':
      return 'nothing';
    default:
      return undefined;
  }
}

function spoken(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Where proofs are required: nobody in a case proves anything, so a decision that was refused is left out. */
function wasHeeded(by: unknown, ask: AskEvent, events: readonly RunEvent[]): boolean {
  return events.some(
    (event) =>
      (event.type === 'approval_resolved' || event.type === 'input_provided') &&
      event.askId === ask.askId &&
      event.by.includes(String(by)),
  );
}

function patternOf(
  { recording, members }: { readonly recording: Recording; readonly members: readonly Member[] },
  heard: Heard,
  answered: AskEvent | undefined,
): WrittenPattern {
  const { events } = recording.bundle;
  if (answered !== undefined && isOpenAt(answered, heard, events)) return ofAsk(answered, events);
  const [ended] = recording.activities.filter(({ to }) => isTogether(to, heard)).toReversed();
  const flying = recording.activities.findLast(
    ({ from, to }) => from < heard.place && (to === undefined || to > heard.together.before),
  );
  const of =
    (ended && whenEnded(ended, events)) ?? (flying && whileFlying(flying, events, heard.name));
  const below = of ?? momentBelow(members, heard);
  if (below !== undefined) return below;
  const waiting = asksIn(events).findLast((ask) => isOpenAt(ask, heard, events));
  if (waiting !== undefined) return ofAsk(waiting, events);
  return nearest(recording, heard);
}

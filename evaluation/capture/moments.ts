/**
 * What was said to a recorded run, and at which moment of the case it is said again.
 * Invariant: a moment is one that both engines know: a question, a model call, a call of a tool, a hook.
 */
import type { Decision } from '../../core/state/ask.js';
import type { RunEvent } from '../../core/state/event.js';
import { isRecord } from '../../core/json/shape.js';
import type { WrittenAction, WrittenPattern } from '../format/during.js';
import type { FixtureDocument } from '../format/document.js';
import { asksIn, decisionOf, isClosing, type AskEvent } from './asked.js';
import type { Heard } from './heard.js';
import { outputOf, type Activity, type Recording } from './recording.js';
import { refused } from './refused.js';
import type { Member } from './tree.js';

type Written = NonNullable<FixtureDocument['during']>[number];

export interface CapturedMoments {
  readonly during: readonly Written[];
  readonly leftOut: readonly string[];
}

export function momentsOf(recording: Recording): CapturedMoments {
  const during: Written[] = [];
  const leftOut: string[] = [];
  for (const heard of heardOnce(recording)) {
    const said = actionOf(recording, heard);
    if (said === 'nothing') continue;
    if (said === 'late' || said === 'unasked') {
      const why = said === 'late' ? 'that came too late' : 'about a question that was never asked';
      leftOut.push(`a decision of ${speakerOf(heard)} ${why}`);
      continue;
    }
    if (said === undefined) {
      leftOut.push(`the signal ${heard.name.slice(0, 100)}, which runs do not know`);
      continue;
    }
    during.push({ on: patternOf(recording, heard, said.ask), do: [said.action] });
  }
  return { during, leftOut };
}

/** To a run below that of the case: words of people to the question that it has asked; nothing else is said of it there. */
export function momentsBelow({ place, recording }: Member): CapturedMoments {
  const during: Written[] = [];
  const leftOut: string[] = [];
  for (const heard of heardOnce(recording)) {
    if (heard.byWorkflow === true) continue;
    const said = actionOf(recording, heard);
    if (said === 'nothing') continue;
    if (said === 'late' || said === 'unasked' || said === undefined) {
      leftOut.push(
        `the signal ${heard.name.slice(0, 100)} to its run ${place}, which changed nothing`,
      );
      continue;
    }
    const { ask, action } = said;
    if (ask?.callId === undefined || !isOpenAt(ask, heard, recording.bundle.events))
      throw refused(`people said ${heard.name.slice(0, 100)} to the run below it, ${place}`);
    during.push({ on: ofAsk(ask, recording.bundle.events), do: [action] });
  }
  return { during, leftOut };
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

function actionOf(
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
  recording: Recording,
  heard: Heard,
  answered: AskEvent | undefined,
): WrittenPattern {
  const { events } = recording.bundle;
  if (answered !== undefined && isOpenAt(answered, heard, events)) return ofAsk(answered, events);
  const [ended] = recording.activities.filter(({ to }) => isTogether(to, heard)).toReversed();
  const flying = recording.activities.findLast(
    ({ from, to }) => from < heard.place && (to === undefined || to > heard.together.before),
  );
  const of = (ended && whenEnded(ended, events)) ?? (flying && whileFlying(flying, events));
  if (of !== undefined) return of;
  const waiting = asksIn(events).findLast((ask) => isOpenAt(ask, heard, events));
  if (waiting !== undefined) return ofAsk(waiting, events);
  return nearest(recording, heard);
}

function isTogether(to: number | undefined, { together }: Heard): boolean {
  return to !== undefined && to > together.after && to < together.before;
}

function isOpenAt(ask: AskEvent, { at }: Heard, events: readonly RunEvent[]): boolean {
  const closed = events.find((event) => isClosing(event) && event.askId === ask.askId);
  return ask.stamp.at < at && (closed === undefined || closed.stamp.at >= at);
}

/** The k-th question of its kind about its call. */
function ofAsk(ask: AskEvent, events: readonly RunEvent[]): WrittenPattern {
  const same = asksIn(events).filter(
    (one) => one.type === ask.type && (ask.callId === undefined || one.callId === ask.callId),
  );
  const n = same.findIndex(({ askId }) => askId === ask.askId) + 1;
  return {
    event: ask.type,
    ...(ask.callId !== undefined && { call: ask.callId }),
    ...(n > 1 && { n }),
  };
}

/** It came together with the end of this activity. */
function whenEnded(activity: Activity, events: readonly RunEvent[]): WrittenPattern | undefined {
  switch (activity.kind) {
    case 'call_model':
      return activity.end.kind === 'completed'
        ? { modelCall: callNumber(activity), at: 'after' }
        : undefined;
    case 'execute_tool':
      return { event: 'tool_finished', call: callId(activity) };
    case 'run_hooks':
      return ofHook(activity, events);
    default:
      return undefined;
  }
}

export function whileFlying(
  activity: Activity,
  events: readonly RunEvent[],
): WrittenPattern | undefined {
  switch (activity.kind) {
    case 'call_model': {
      const reply = outputOf(activity, 'call_model')?.reply;
      const said = reply?.partial === true && reply.text !== undefined;
      return { modelCall: callNumber(activity), at: said ? 'streaming' : 'before' };
    }
    case 'execute_tool':
      return { event: 'tool_started', call: callId(activity) };
    case 'run_hooks':
      return ofHook(activity, events);
    case 'open_run':
      return { start: true };
    default:
      return undefined;
  }
}

function ofHook(activity: Activity, events: readonly RunEvent[]): WrittenPattern | undefined {
  const { point, payload } = activity.input as { readonly [key: string]: unknown };
  const told = events.some((event) => event.type === 'hook' && event.name === point);
  if (!told) return undefined;
  const call = isRecord(payload) ? payload.call_id : undefined;
  return {
    event: 'hook',
    name: point,
    ...(typeof call === 'string' && { call }),
  } as WrittenPattern;
}

/** Nothing that both engines can stand in was under way: the next model call, else the newest. */
export function nearest(
  { activities }: Pick<Recording, 'activities'>,
  { place }: Pick<Heard, 'place'>,
): WrittenPattern {
  const calls = activities.filter(({ kind }) => kind === 'call_model');
  const next = calls.find(({ from }) => from > place);
  if (next !== undefined) return { modelCall: callNumber(next), at: 'before' };
  const last = calls.at(-1);
  if (last === undefined) return { start: true };
  return { modelCall: callNumber(last), at: 'after' };
}

function callNumber({ input }: Activity): number {
  const { call } = (input ?? {}) as { readonly call?: unknown };
  if (typeof call === 'number') return call;
  throw refused('a model call has no number');
}

function callId({ input }: Activity): string {
  const { call } = (input ?? {}) as { readonly call?: { readonly callId?: unknown } };
  if (typeof call?.callId === 'string') return call.callId;
  throw refused('a call of a tool has no id');
}

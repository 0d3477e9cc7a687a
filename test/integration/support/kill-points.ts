/** Where a worker can be killed: before and after each message, and in the middle of what it does. */
import type { Fate, Message } from './wire.js';

export type Inside =
  | 'in the middle of a reply'
  | 'in the middle of a summary'
  | 'in the middle of a review'
  | 'while a tool reads'
  | 'before an effect'
  | 'after an effect'
  | 'while a person is waited for';

export type Point =
  | {
      readonly kind: 'message';
      readonly message: Message;
      readonly fate: Fate;
    }
  | { readonly kind: 'inside'; readonly what: Inside };

export const INSIDE_A_RUN: readonly Point[] = inside([
  'in the middle of a reply',
  'in the middle of a summary',
  'while a tool reads',
  'before an effect',
  'after an effect',
  'while a person is waited for',
]);

export const INSIDE_A_GOAL: readonly Point[] = inside([
  'in the middle of a reply',
  'in the middle of a review',
  'before an effect',
  'after an effect',
]);

function inside(all: readonly Inside[]): readonly Point[] {
  return all.map((what) => ({ kind: 'inside', what }));
}

/** A task that is handed out can get lost on its way; an outcome, on its way or after it has arrived. */
export function pointsOf(messages: readonly Message[]): readonly Point[] {
  return messages.flatMap((message): readonly Point[] => {
    const fates: readonly Fate[] = message.name.startsWith('Poll')
      ? ['unsent']
      : ['unsent', 'unheard'];
    return fates.map((fate) => ({ kind: 'message', message, fate }));
  });
}

/** A boundary of a goal or a tree: what was the last thing to get through, or the first that did not. */
interface Boundary {
  readonly between: string;
  readonly cycle: string;
  readonly name: string;
  readonly about: string;
  readonly nth: number;
  readonly fate: Fate;
}

const BROUGHT = 'RespondActivityTaskCompleted';
const DECIDED = 'RespondWorkflowTaskCompleted';
/** Stands in what the workflow of a sub-agent returns. */
const RETURNED = 'sealed';

/**
 * The first cycle, the pass behind it, and its sleep; the pass of the baseline comes before. A decision that is unheard
 * has reserved, started or scheduled something, and handed its task to the worker that dies.
 */
const BOUNDARIES: readonly Boundary[] = [
  { between: 'reserve and brief', about: 'prepare_cycle', name: DECIDED, fate: 'unheard' },
  { between: 'reserve and start', about: 'prepare_cycle', name: BROUGHT, fate: 'unheard' },
  { between: 'reserve and start', about: 'agentRun', name: DECIDED, fate: 'unsent' },
  { between: 'start and end', about: 'agentRun', name: DECIDED, fate: 'unheard' },
  { between: 'start and end', about: 'call_model', name: BROUGHT, fate: 'unsent', cycle: ':c1' },
  { between: 'a word and its event', about: 'flush', name: DECIDED, fate: 'unheard' },
  { between: 'end and its word', about: 'close_run', name: BROUGHT, fate: 'unheard', cycle: ':c1' },
  { between: 'end and close', about: 'childEnded', name: DECIDED, fate: 'unheard', cycle: ':c1' },
  { between: 'close and check', about: 'close_cycle', name: BROUGHT, fate: 'unheard' },
  { between: 'check and review', about: 'run_check', name: BROUGHT, fate: 'unheard', nth: 1 },
  { between: 'check and review', about: 'ask_judge', name: DECIDED, fate: 'unsent' },
  { between: 'check and review', about: 'ask_judge', name: DECIDED, fate: 'unheard' },
  { between: 'review and its word', about: 'ask_judge', name: BROUGHT, fate: 'unsent' },
  { between: 'review and checkpoint', about: 'ask_judge', name: BROUGHT, fate: 'unheard' },
  {
    between: 'review and checkpoint',
    about: 'save_checkpoint',
    name: DECIDED,
    fate: 'unsent',
    nth: 1,
  },
  {
    between: 'checkpoint and sleep',
    about: 'save_checkpoint',
    name: BROUGHT,
    fate: 'unheard',
    nth: 1,
  },
  { between: 'sleep and wake', about: '"sleep"', name: DECIDED, fate: 'unheard' },
  { between: 'wake and cycle', about: 'prepare_cycle', name: DECIDED, fate: 'unsent', nth: 1 },
].map((boundary) => ({ cycle: '', nth: 0, ...boundary }) as Boundary);

/** The edges between a run and its sub-agent, of which one ends at a time: the only one below the root. */
const EDGES: readonly Boundary[] = [
  { between: 'grant and row', about: 'prepare_child', name: DECIDED, fate: 'unheard' },
  { between: 'row and start', about: 'prepare_child', name: BROUGHT, fate: 'unsent' },
  { between: 'row and start', about: 'prepare_child', name: BROUGHT, fate: 'unheard' },
  { between: 'row and start', about: 'agentRun', name: DECIDED, fate: 'unsent' },
  { between: 'start and answer', about: 'agentRun', name: DECIDED, fate: 'unheard' },
  { between: 'start and answer', about: 'open_run', name: DECIDED, fate: 'unsent', cycle: ':a1' },
  { between: 'start and answer', about: 'open_run', name: DECIDED, fate: 'unheard', cycle: ':a1' },
  {
    between: 'start and answer',
    about: 'call_model',
    name: BROUGHT,
    fate: 'unsent',
    cycle: ':a1:a1',
  },
  {
    between: 'answer and outcome',
    about: 'close_run',
    name: BROUGHT,
    fate: 'unsent',
    cycle: ':a1',
  },
  {
    between: 'outcome and its end',
    about: 'close_run',
    name: BROUGHT,
    fate: 'unheard',
    cycle: ':a1',
  },
  {
    between: 'outcome and its end',
    about: RETURNED,
    name: DECIDED,
    fate: 'unsent',
    cycle: ':a1',
  },
  { between: 'end and result', about: RETURNED, name: DECIDED, fate: 'unheard', cycle: ':a1' },
].map((boundary) => ({ cycle: '', nth: 0, ...boundary }) as Boundary);

/** Where a goal is to lose its worker whatever is drawn. Throws when the story has no such message. */
export function boundariesOf(messages: readonly Message[]): readonly Point[] {
  return found(BOUNDARIES, messages);
}

/** The same of a tree. */
export function edgesOf(messages: readonly Message[]): readonly Point[] {
  return found(EDGES, messages);
}

function found(boundaries: readonly Boundary[], messages: readonly Message[]): readonly Point[] {
  return boundaries.map(({ between, cycle, name, about, nth, fate }) => {
    const message = messages.find(
      (one) => one.cycle === cycle && one.name === name && one.about === about && one.nth === nth,
    );
    if (message === undefined) throw new Error(`no message between ${between}: ${about} ${nth}`);
    return { kind: 'message', message, fate };
  });
}

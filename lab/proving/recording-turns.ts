/** Joins the raw messages of a recorded run into turns, and enforces what a replay relies on. */
import { HoldfastError } from '../../core/state/errors.js';
import type { RecordedCall, RecordedTurn, RecordedUsage } from './recorded-run.js';

export interface RawCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** `at` is the message's place in the file. */
export type RawMessage = { readonly at: number } & (
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string | null;
      readonly calls: readonly RawCall[];
      readonly usage?: RecordedUsage;
      readonly costUsd?: number;
    }
  | {
      readonly role: 'tool';
      readonly id: string;
      readonly content: string;
      readonly error: boolean;
      readonly byUser: boolean;
    }
);

export interface RawRun {
  readonly taskId: string;
  readonly trial: number;
  readonly systemPrompt?: string;
  readonly termination?: string;
  readonly messages: readonly RawMessage[];
}

export interface JoinedTurns {
  readonly turns: readonly RecordedTurn[];
  readonly droppedGreetings: number;
  readonly repeatedCallIds: number;
  readonly unansweredCalls: number;
  readonly droppedUserTools: number;
}

interface Joining {
  readonly run: string;
  readonly turns: RecordedTurn[];
  readonly usedIds: Set<string>;
  /** Calls of the last assistant turn that still wait for their answers, by recorded id. */
  open: { readonly recordedId: string; readonly call: RecordedCall }[];
  droppedGreetings: number;
  repeatedCallIds: number;
  droppedUserTools: number;
}

/** Turns raw messages into turns; see the invariants of recording.ts. */
export function joinTurns(messages: readonly RawMessage[], run: string): JoinedTurns {
  const joining: Joining = {
    run,
    turns: [],
    usedIds: new Set(),
    open: [],
    droppedGreetings: 0,
    repeatedCallIds: 0,
    droppedUserTools: 0,
  };
  for (const message of messages) joinMessage(joining, message);
  const { turns, droppedGreetings, repeatedCallIds, droppedUserTools } = joining;
  const unansweredCalls = joining.open.length;
  return { turns, droppedGreetings, repeatedCallIds, unansweredCalls, droppedUserTools };
}

const OPEN_CALL = 'comes before the answer to a call';

function joinMessage(joining: Joining, message: RawMessage): void {
  if (message.role === 'tool') {
    if (message.byUser) joining.droppedUserTools += 1;
    else joinAnswer(joining, message);
    return;
  }
  if (joining.open.length > 0) throw badRun(joining, message.at, OPEN_CALL);
  if (message.role === 'user') {
    joining.turns.push({ role: 'user', text: message.text });
    return;
  }
  if (joining.turns.length === 0) {
    if (message.calls.length > 0) throw badRun(joining, message.at, 'calls a tool in the greeting');
    joining.droppedGreetings += 1;
    return;
  }
  const calls = message.calls.map((call) => uniqueCall(joining, call));
  joining.open = calls.map((call) => ({ recordedId: call.recordedId ?? call.id, call }));
  const { at: _at, ...turn } = message;
  joining.turns.push({ ...turn, calls });
}

/** Some recorders give a call the id of an earlier one; a replay needs to tell them apart. */
function uniqueCall(joining: Joining, call: RawCall): RecordedCall {
  let id = call.id;
  if (joining.usedIds.has(id) || id === '') {
    joining.repeatedCallIds += 1;
    // The number only grows, so the new id is found at the first or second try.
    for (let n = joining.usedIds.size + 1; joining.usedIds.has(id) || id === ''; n += 1) {
      id = `${call.id === '' ? 'call' : call.id}~${n}`;
    }
  }
  joining.usedIds.add(id);
  return id === call.id ? call : { ...call, id, recordedId: call.id };
}

function joinAnswer(joining: Joining, message: RawMessage & { readonly role: 'tool' }): void {
  const at = joining.open.findIndex((entry) => entry.recordedId === message.id);
  const entry = joining.open[at];
  if (entry === undefined) throw badRun(joining, message.at, 'answers a call that was not made');
  joining.open.splice(at, 1);
  const { id, name } = entry.call;
  const { content, error } = message;
  joining.turns.push({ role: 'tool', id, name, content, error });
}

function badRun(joining: Joining, index: number, what: string): HoldfastError {
  return new HoldfastError('InvalidTask', `Run ${joining.run}: message ${index} ${what}.`);
}

/** A handoff: a run goes on under another agent's definition, or another run takes the task over (G66). */
import type { Json, StoredText } from '../json/json.js';
import type { MediaCount } from './attachment.js';
import type { Failure } from './failure.js';
import type { StartInput } from './task.js';

/** The tool by which a model hands its run over; reserved for agents that say to whom. */
export const HANDOFF_TOOL = 'handoff';

/** Handoffs of one run, so that agents which hand it to each other come to an end. */
export const HANDOFFS_MAX = 8;

/**
 * What the next agent sees of the conversation, behind the task: all of it, its last n messages, the summary of the agent
 * before, or nothing but the state that is handed over.
 */
export type HandoffFilter = 'all' | 'none' | 'summary' | `last ${number}`;

/** Somebody to whom an agent may hand a run, as it is frozen. */
export interface HandoffTarget {
  readonly agent: string;
  readonly filter: HandoffFilter;
  /** The task goes to a run of its own, and this one ends; absent: this run goes on under the other agent. */
  readonly run?: 'new';
}

/** The run that takes the task over, on its way. */
export interface HandedRun {
  /** Its run id. */
  readonly child: string;
  /** Its number among the runs that this one has handed its task to, from 1; numbers may turn out to be taken. */
  readonly n: number;
  /** due: nothing has begun; prepared: its row is in the store; checking: its id was in use; started: it is there. */
  readonly stage: 'due' | 'preparing' | 'prepared' | 'starting' | 'checking' | 'started';
  /** Effect of the stages 'preparing', 'starting' and 'checking'. */
  readonly effectId?: string;
  /** Of its workflow, with 'prepared'. */
  readonly input?: StartInput;
}

/** Where the task of a run came from, as it is frozen. */
export interface HandedFrom {
  readonly runId: string;
  readonly agent: string;
  readonly callId: string;
  /** Handoffs of the task so far, this one among them. */
  readonly handoffs: number;
}

/** Who goes on with the task of a run that has ended. */
export interface HandedTo {
  readonly runId: string;
  readonly agent: string;
}

/** A granted handoff, until the next agent is announced. */
export interface Handoff {
  /** Its number in the run, from 1. */
  readonly n: number;
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  readonly filter: HandoffFilter;
  /** Of the call: `{to, summary, state?}`; long texts are references. */
  readonly args: Json;
  /** Its turn is over and stored: the next segment opens with the other agent. */
  readonly due?: true;
  /** Openings by workers that know no handoffs. */
  readonly missed?: number;
  /** Why the other agent could not be opened, or its run not be started. */
  readonly failed?: Failure;
  /** Absent: the run itself goes on. */
  readonly starts?: HandedRun;
}

/** What the next agent is told, once it is frozen. */
export interface HandedOver {
  /** From whom, the summary and the state, as data. */
  readonly message: StoredText;
  /** Of the prompt and the conversation that goes along. */
  readonly bytes: number;
  /** Attachments of that conversation. */
  readonly media?: MediaCount;
}

export function lastOf(filter: HandoffFilter): number | undefined {
  const count = /^last (\d{1,4})$/.exec(filter)?.[1];
  return count === undefined ? undefined : Number(count);
}

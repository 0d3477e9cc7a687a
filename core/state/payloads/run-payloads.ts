/** Payloads of the activities that open a run, store what it says, and close it. */
import type { Json, StoredText } from '../../json/json.js';
import type { ConnectorReport } from '../connector.js';
import type { Frozen } from '../frozen.js';
import type { HandedOver, Handoff } from '../handoff.js';
import type { Letter } from '../mail.js';
import type { OpenedSession, SavedSession, SessionToSave } from '../session.js';
import type { DeskKey } from '../statement.js';
import type { StartInput } from '../task.js';
import type { TranscriptItem } from '../transcript.js';
import type {
  Acknowledged,
  ElsewhereReason,
  EventBatch,
  QuickAttempt,
  RunRef,
  StoreRef,
} from './payload.js';

export interface OpenRunInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly segment: number;
  /** First segment only, as the caller sent it: the one payload that may be as large as the run's own input. */
  readonly start?: StartInput;
  /** The segment begins with another agent: `start` is that of the run, and is taken up under it. */
  readonly handoff?: HandoffOpening;
  /** Later segments: the Temporal run id of the closed segment, whose history is archived. */
  readonly previousExecution?: string;
  /** It is tried within the first task of the run: one attempt, of which the history has the outcome alone. */
  readonly quick?: QuickAttempt;
}

/** What a segment needs that goes on under another agent. */
export interface HandoffOpening {
  readonly handoff: Handoff;
  /** Newest message of the conversation so far. */
  readonly head: string;
  /** JSON Schema of the answer, as JSON text; the start of a run under way has it no more. */
  readonly outputSchema?: StoredText;
}

export interface OpenRunOutput extends Acknowledged {
  /** Number of the rule set the worker runs. */
  readonly rules: number;
  /** First segment only. */
  readonly frozen?: Frozen;
  /** First segment only: root node of the transcript. */
  readonly head?: string;
  /** The goal as it enters the transcript, spilled when large. */
  readonly goal?: StoredText;
  /** Of a cycle: what is known, as data, behind the goal. */
  readonly context?: readonly StoredText[];
  /** First segment only: why configuration or agent refuse the task. */
  readonly denied?: string;
  /** First segment only, of an agent that uses connectors. */
  readonly connectors?: ConnectorReport;
  /** First segment of a run that begins or goes on with a session. */
  readonly session?: OpenedSession;
  /** To a run that knows none: the store that has its records from now on. */
  readonly store?: StoreRef;
  /** Of a fork: the state that it begins from (`Fork`), as it lay in the store; nothing is frozen anew. */
  readonly fork?: Json;
  /** With `frozen` of another agent. */
  readonly handedOver?: HandedOver;
  /** Every segment: keys of the desk that count now. Absent: none. */
  readonly deskKeys?: readonly DeskKey[];
  /** The attempt within the first task gave no answer, and nothing else here counts: an ordinary activity opens the run. */
  readonly elsewhere?: ElsewhereReason;
  /** Of the attempt within the first task: what it was for. */
  readonly quick?: QuickOpening;
}

/** What an attempt was given is not in the history. */
export interface QuickOpening {
  readonly effectId: string;
  /** SHA-256 of the canonical form of all that it was given. */
  readonly input: string;
}

export interface FetchKeysInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** Ids of the keys that are missed, for people who look at the history. */
  readonly kids: readonly string[];
}

export interface FetchKeysOutput extends Acknowledged {
  /** Keys of the desk that count now. */
  readonly deskKeys: readonly DeskKey[];
}

export interface ReadMailInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** Number of the newest letter that the run has taken. */
  readonly after: number;
  readonly limit: number;
}

export interface ReadMailOutput extends Acknowledged {
  readonly letters: readonly Letter[];
  /** There may be others behind them. */
  readonly more: boolean;
}

export interface FlushInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  /** With messages: the newest node that is in the store. */
  readonly head?: string;
  /** Messages that are too large for the request that would bring them along. */
  readonly append?: readonly TranscriptItem[];
}

export interface FlushOutput extends Acknowledged {
  /** With messages: the newest of them. */
  readonly head?: string;
}

export interface CloseRunInput extends EventBatch {
  readonly v: 1;
  readonly run: RunRef;
  readonly head: string | null;
  readonly append: readonly TranscriptItem[];
  /** Present when the run's session is kept. */
  readonly session?: SessionToSave;
}

export interface CloseRunOutput extends Acknowledged {
  readonly head: string | null;
  /** Absent: there was none to store. */
  readonly session?: SavedSession;
  /** The store has lost the conversation, and what was said last is not in it. */
  readonly transcript?: 'incomplete';
  /** Of a sub-agent: its row was sealed with its result. */
  readonly sealed?: true;
}

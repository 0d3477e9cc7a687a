/** What the files of one connection share: how it was opened, what is known of it, and the call that it is busy with. */
import type { Connector } from '../authoring/connectors.js';
import type { Json } from '../core/json/json.js';
import type { ServerDefinition } from './definition.js';
import type { Exchange } from './exchange.js';
import type { Authorization } from './oauth/authorization.js';
import { OWN_ANSWERS_MAX, ownAnswers, type OwnAnswers } from './own-answers.js';
import type { Sdk, SdkClient } from './sdk.js';
import type { Secrets } from './secrets.js';
import type { TransportFactory } from './transport.js';

const NOTES_MAX = 10;
/** Where forms answer: what they say has a note each, however much the server says. */
const NOTES_BESIDE_ANSWERS_MAX = NOTES_MAX - OWN_ANSWERS_MAX;

export interface ServerCall {
  /** As the server names it. */
  readonly tool: string;
  /** Of its definition. */
  readonly hash: string;
  /** It may change something: the server is looked at right before, so that nothing is sent to one that is away. */
  readonly changes: boolean;
  readonly definition: ServerDefinition;
  readonly args: Json;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What people have answered. */
  readonly exchange?: Exchange;
  /** Whether the run takes signed decisions alone. */
  readonly wantsProof: () => Promise<boolean>;
  /** Progress and logs, bounded. */
  readonly note: (text: string) => void;
}

export interface Opening {
  readonly connector: Connector;
  readonly secrets: Secrets;
  readonly transports?: TransportFactory;
  /** Of a connector with OAuth. */
  readonly authorization?: Authorization;
  readonly clock: () => number;
}

/** The call that a connection is busy with. */
export interface Active {
  readonly call: ServerCall;
  /** Questions of a legacy server that were not answered yet. */
  readonly asked: { key: string; params: unknown }[];
  readonly answers: OwnAnswers;
  readonly notesMax: number;
  notes: number;
}

export interface State {
  closed: boolean;
  /** The server has said that its list is another one. */
  dirty: boolean;
  listedAt: number;
  tools: readonly ServerDefinition[];
  active?: Active;
}

export interface Parts {
  readonly sdk: Sdk;
  readonly client: SdkClient;
  readonly state: State;
}

export function activeCall(connector: Connector, call: ServerCall): Active {
  return {
    call,
    asked: [],
    answers: ownAnswers(connector, call),
    notesMax: connector.elicitation === 'defaults' ? NOTES_BESIDE_ANSWERS_MAX : NOTES_MAX,
    notes: 0,
  };
}

/** What the server says beside its results; the rest is left out. */
export function noted(state: State, text: string): void {
  const { active } = state;
  if (active === undefined || active.notes >= active.notesMax) return;
  active.notes += 1;
  active.call.note(text);
}

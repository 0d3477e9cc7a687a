/** What the desk's routes work with. Nothing here belongs to one request or one tenant. */
import type { ConsoleSettings, NormalGoal } from '../authoring/index.js';
import type { DeskSigner, HoldfastClient } from '../client/index.js';
import type { Json } from '../core/json/json.js';
import type { Limit } from '../core/state/budget-fields.js';
import type { ToolEffect } from '../core/state/tool.js';
import type { ConnectorsNow } from './connectors-now.js';
import type { Person } from './identity/person.js';
import type { OwedRows } from './owed.js';
import type { Records } from './records.js';
import type { DeskStore } from './desk-store.js';

/** What is known here of a tool, for the form of a correction. */
export interface KnownTool {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly effect: ToolEffect;
  /** JSON Schema of its arguments. */
  readonly inputSchema: Json;
}

/** Questions that somebody has been shown, as far as this process remembers. */
export interface Views {
  note(desk: Desk, person: Person, asks: readonly Seen[]): Promise<void>;
  /** The same while the store is away. */
  noteOrOwe(desk: Desk, person: Person, asks: readonly Seen[]): Promise<void>;
}

export interface Seen {
  readonly askId: string;
  readonly runId: string;
  readonly argsHash: string;
  readonly policyVersion: string;
}

/** What may be started here, of the configuration and within `console.starts`. */
export interface Startable {
  readonly agents: readonly StartableAgent[];
  readonly goals: readonly StartableGoal[];
}

export interface StartableAgent {
  readonly name: string;
  /** What the agent's own budget allows a run, in micro-USD. */
  readonly maxCostMicroUsd: Limit;
}

export interface StartableGoal {
  readonly name: string;
  readonly definition: NormalGoal;
}

/** What somebody wants forked, and how. */
export interface ForkWanted {
  readonly tenant: string;
  readonly runId: string;
  readonly step: number;
  readonly model?: string | undefined;
  readonly instructions?: string | undefined;
  readonly message?: string | undefined;
  /** By call id. */
  readonly results?: { readonly [callId: string]: string } | undefined;
  /** What the fork may spend beyond what the run had spent; absent: what the run was allowed. */
  readonly ownCostMicroUsd?: number;
  readonly rules?: 'newest' | undefined;
}

/** Makes forks of recorded runs. Errors: HoldfastError. */
export interface Forks {
  /** Without effects; what `holdfast fork --json` says. */
  dry(wanted: ForkWanted): Promise<object>;
  /** Resolves when the fork `forkId` is open; one that is there already is the same. */
  live(wanted: ForkWanted & { readonly forkId: string; readonly caller: string }): Promise<void>;
}

export interface Desk {
  readonly client: HoldfastClient;
  readonly store: DeskStore;
  readonly settings: ConsoleSettings;
  /** Roles that decide somewhere, by the configuration; absent or empty: whoever has a role. */
  readonly deciders?: readonly string[];
  /** Absent: heads of the trail are not signed. */
  readonly signer?: DeskSigner;
  readonly version: string;
  /** Absent: nothing. */
  readonly startable?: Startable;
  /** Absent: the configuration has none. */
  readonly connectors?: ConnectorsNow;
  /** Absent: none are made here. */
  readonly forks?: Forks;
  /** Of the present configuration; a run may have been begun with others. */
  readonly tools: readonly KnownTool[];
  /** Where Temporal's own page is, if there is one. */
  readonly temporalUi?: string;
  /** Of every route that shows questions. */
  readonly views: Views;
  /** Of runs that somebody looks at step by step. */
  readonly records: Records;
  /** Of what is done while the store is away. */
  readonly owed: OwedRows;
  readonly clock: () => number;
  /** The console's own log: short lines, never a token, never what somebody sent. */
  readonly say: (line: string) => void;
}

/** What the shell of the core's tests knows (shell.ts), and what it awaits. */
import type { ActivityEffect, Effect } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Input } from '../../core/state/input.js';
import type { Run } from '../../core/state/run.js';
import type { InvariantState } from '../../pure/invariants.js';
import type { Script } from './script.js';
import type { Message, Transcript } from './transcript.js';

export type Started<Kind extends ActivityEffect['kind']> = Extract<ActivityEffect, { kind: Kind }>;

export interface Awaited {
  readonly id: string;
  readonly due: number;
  readonly order: number;
  readonly make: (at: number) => Input;
}

export interface Shell {
  readonly script: Script;
  run: Run;
  now: number;
  inbox: Input[];
  awaited: Awaited[];
  /** Every effect that was ever started, in order. */
  readonly effects: Effect[];
  /** Events by seq, as the store has them. */
  readonly stored: RunEvent[];
  /** Events by seq, as they were emitted. */
  readonly events: RunEvent[];
  readonly transcript: Transcript;
  readonly verdicts: Run['verdicts'][number][];
  /** Everybody who was to get a verdict. */
  readonly tickets: string[];
  /** Script entries taken so far, and which entry an effect was given. */
  readonly used: { [what: string]: number };
  readonly allotted: { [effectId: string]: number };
  /** Conversations that a summary made, by their heads. */
  readonly summaries: { [head: string]: readonly Message[] };
  checks: InvariantState;
  orders: number;
}

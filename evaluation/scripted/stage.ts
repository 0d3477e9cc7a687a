/** What the doubles of a case need of the engine that plays it. */
import type { Action } from '../fixture.js';

/** What happens to runs and workers; servers of a case are its own. */
export type StageAction = Exclude<Action, { kind: 'server' }>;

export interface Stage {
  /** In the engine's own time, ms. */
  now(): number;
  /** The worker in which the calling code runs. */
  worker(): StageWorker;
  /** Makes something happen from outside; resolves when it is under way. */
  perform(action: StageAction): Promise<void>;
}

/** A worker as its doubles see it. Once it is dead, nothing that waits here ever comes back. */
export interface StageWorker {
  /** Waits for so long, or until `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** The same for a tool: of calls that run together, the one that waits the least ends first. */
  waitAsCall(call: ScriptedCall, ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Lets the run deal with what was done from outside, before the caller goes on. `stops`: it is expected
   * to end what `signal` belongs to.
   */
  settle(signal: AbortSignal, stops: boolean): Promise<void>;
  /**
   * Does something from outside that is to reach the run together with what the caller returns now.
   * Comes back if the worker still lives then.
   */
  together(act: () => Promise<unknown>): Promise<void>;
  /** Calls back when it dies. */
  onDeath(then: () => void): void;
  /** The worker dies. */
  die(): Promise<never>;
}

export interface ScriptedCall {
  readonly callId: string;
  /** It ends by itself after its wait; false: somebody else ends it, and nobody waits for that. */
  readonly ends: boolean;
}

/** Actions after which a run ends what it does. */
export function stopsWork(actions: readonly Action[]): boolean {
  return actions.some(({ kind }) => kind === 'interrupt' || kind === 'cancel' || kind === 'close');
}

/**
 * Whose turn it is to end, of the calls of a case that run together: the one whose script waits the least.
 *
 * In virtual time that follows by itself. On a real server work may begin late and its outcome may arrive late:
 * real pauses alone would leave the order to the load of the machine.
 * Invariants: no call ends sooner than its script says; it ends after those before it have arrived at the run;
 * every wait for others has a limit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedCall } from '../scripted/stage.js';

/** Longest wait of one call for others, in ms. */
const TURN_LIMIT_MS = 10_000;
const POLL_MS = 20;

export interface Turns {
  /** An attempt of a call begins. */
  begin(attempt: { readonly effectId: string; readonly callId: string }): BegunAttempt;
  /** Waits for so long and for the call's turn, or until `signal` aborts. */
  wait(call: ScriptedCall, ms: number, signal: AbortSignal): Promise<void>;
}

export interface BegunAttempt {
  /** The run is about to hear of it. */
  told(): void;
  /** Nothing is known of when it ends: it failed, or its worker is gone. */
  lost(): void;
}

type State =
  /** Ends at some time, nobody knows when, or has ended and may not have arrived. */
  | 'ahead'
  /** Ends when its time has come, on a clock that stands still while anything else can happen. */
  | { readonly due: number }
  | 'unknown';

/** `inFlight`: the effects that the run waits for; it may fail. */
export function turnsOf(inFlight: () => Promise<readonly string[]>): Turns {
  const states = new Map<string, State>();
  const effectOf = new Map<string, string>();
  let clock = 0;

  async function isTurn(own: string, due: number): Promise<boolean> {
    const effects = await inFlight().catch(() => undefined);
    return effects?.every((id) => id === own || !isBefore(states.get(id), due)) ?? false;
  }

  async function untilTurn(own: string, due: number, signal: AbortSignal): Promise<void> {
    const over = Date.now() + TURN_LIMIT_MS;
    while (!signal.aborted && Date.now() < over && !(await isTurn(own, due))) {
      await pause(POLL_MS, signal);
    }
  }

  return {
    begin({ effectId, callId }) {
      effectOf.set(callId, effectId);
      states.set(effectId, 'ahead');
      return {
        told: () => void states.set(effectId, 'ahead'),
        lost: () => void states.set(effectId, 'unknown'),
      };
    },
    async wait({ callId, ends }, ms, signal) {
      const own = effectOf.get(callId) ?? callId;
      const due = clock + ms;
      states.set(own, ends ? { due } : 'unknown');
      if (ms > 0) await pause(ms, signal);
      if (ends && ms > 0) await untilTurn(own, due, signal);
      clock = Math.max(clock, due);
      states.set(own, ends ? 'ahead' : 'unknown');
    },
  };
}

/** A call of which nothing is known here has not begun yet. */
function isBefore(state: State = 'ahead', due: number): boolean {
  return state === 'ahead' || (state !== 'unknown' && state.due < due);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

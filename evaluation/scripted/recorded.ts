/**
 * What a tool answers from a record: each recorded call answers one call with the same arguments, in their order.
 * Invariant: what the record does not have is refused in words that say so; nothing is made up.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { RecordedCall, ScriptedResult } from '../fixture.js';

/** Code of the error that the model is shown in place of an answer that was never recorded. */
export const NOT_RECORDED = 'not_recorded';

const INPUT_CHARS_SHOWN = 500;

interface Taken {
  readonly call: RecordedCall | undefined;
  attempts: number;
}

export class RecordedAnswers {
  private readonly waiting = new Map<string, RecordedCall[]>();
  /** By call and arguments: further attempts of a call are of the recorded call that it took. */
  private readonly taken = new Map<string, Taken>();

  constructor(
    private readonly tool: string,
    recorded: readonly RecordedCall[],
  ) {
    for (const call of recorded) {
      const key = `${call.run ?? ''} ${canonicalJson(call.input)}`;
      this.waiting.set(key, [...(this.waiting.get(key) ?? []), call]);
    }
  }

  /** `place`: of the run whose call it is, below that of the case; undefined: nothing is recorded of it. */
  resultOf(callId: string, input: Json, place: string | undefined): ScriptedResult {
    const key = canonicalJson(input);
    if (place === undefined) return this.refusal(key);
    const name = `${place} ${callId} ${key}`;
    const taken = this.taken.get(name) ?? { call: this.take(place, key), attempts: 0 };
    this.taken.set(name, taken);
    const results = taken.call?.results;
    if (results === undefined) return this.refusal(key);
    const result = results[Math.min(taken.attempts, results.length - 1)];
    taken.attempts += 1;
    return result ?? this.refusal(key);
  }

  /** What the run itself was answered, else what is of no run. */
  private take(place: string, key: string): RecordedCall | undefined {
    return this.waiting.get(`${place} ${key}`)?.shift() ?? this.waiting.get(` ${key}`)?.shift();
  }

  private refusal(input: string): ScriptedResult {
    const shown =
      input.length > INPUT_CHARS_SHOWN ? `${input.slice(0, INPUT_CHARS_SHOWN)}…` : input;
    const message = `The record has no (further) answer of ${this.tool} to the arguments ${shown}.`;
    return { kind: 'error', code: NOT_RECORDED, message, delayMs: 0 };
  }
}

/** What executors were handed, and what really happened: the evidence of a case. */
import type { Json } from '../../core/json/json.js';
import type { SeenExecution } from '../engine.js';

export interface Handed {
  readonly callId: string;
  readonly tool: string;
  readonly key: string;
  readonly input: Json;
  readonly sandbox: boolean;
}

export interface Executions {
  /** An attempt begins; the returned function ends it. */
  begin(handed: Handed, at: number): (at: number) => void;
  /** The newest attempt of the call never reached its tool. */
  withdraw(handed: Pick<Handed, 'callId' | 'key'>): void;
  /** How many attempts of this tool have begun. */
  attemptsOf(tool: string): number;
  tookEffect(tool: string, key: string): void;
  /** An effect under this key has happened. */
  hasHappened(key: string): boolean;
  seen(): readonly SeenExecution[];
  effects(): { readonly [tool: string]: number };
}

type Growing = { -readonly [Field in keyof SeenExecution]: SeenExecution[Field] };

export function recordExecutions(): Executions {
  const byCall = new Map<string, Growing>();
  const attempts = new Map<string, number>();
  const effects = new Map<string, number>();
  const happened = new Set<string>();
  return {
    begin(handed, at) {
      attempts.set(handed.tool, (attempts.get(handed.tool) ?? 0) + 1);
      const name = `${handed.callId} ${handed.key}`;
      const execution = byCall.get(name) ?? { ...handed, attempts: 0, startedAt: at, endedAt: at };
      execution.attempts += 1;
      byCall.set(name, execution);
      return (endedAt) => {
        execution.endedAt = Math.max(execution.endedAt, endedAt);
      };
    },
    withdraw({ callId, key }) {
      const name = `${callId} ${key}`;
      const execution = byCall.get(name);
      if (execution === undefined) return;
      execution.attempts -= 1;
      if (execution.attempts === 0) byCall.delete(name);
    },
    attemptsOf: (tool) => attempts.get(tool) ?? 0,
    tookEffect(tool, key) {
      happened.add(key);
      effects.set(tool, (effects.get(tool) ?? 0) + 1);
    },
    hasHappened: (key) => happened.has(key),
    seen: () => [...byCall.values()],
    effects: () => Object.fromEntries(effects),
  };
}

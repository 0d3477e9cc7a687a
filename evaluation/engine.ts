/**
 * What runs a case and what is seen of it: the line between the file format and the two engines.
 * Invariant: an engine observes and judges nothing; what was expected is compared in one place for both.
 */
import type { RunEvent } from '../core/state/event.js';
import type { Json } from '../core/json/json.js';
import type { GoalMemory } from '../core/state/goal/memory.js';
import type { RunResult } from '../core/state/result.js';
import type { Fixture } from './fixture.js';

export type EngineName = 'simulation' | 'temporal';

export interface Engine {
  readonly name: EngineName;
  /** Most cases that run at once. */
  readonly concurrency: number;
  run(fixture: Fixture, options: RunOptions): Promise<CaseRun>;
  stop(): Promise<void>;
}

export interface RunOptions {
  /** Seeds whatever the engine chooses freely. */
  readonly seed: number;
  readonly signal?: AbortSignal;
}

export type CaseRun =
  | { readonly kind: 'observed'; readonly observed: Observation }
  /** For example `needs virtual time` or `no seam`; never a pass. */
  | { readonly kind: 'skipped'; readonly why: string }
  /** The engine itself failed: never a pass either. */
  | { readonly kind: 'broken'; readonly message: string };

/** Everything that expectations are compared with. */
export interface Observation {
  /** Absent when the start was refused. */
  readonly result?: RunResult;
  readonly startError?: { readonly code: string; readonly message: string };
  /** All events by seq, texts of the store put back in. */
  readonly events: readonly RunEvent[];
  /** The live messages at the end, oldest first. */
  readonly transcript: readonly SeenMessage[];
  /** The loop's logical model requests, in order; compaction and hooks are not among them. */
  readonly requests: readonly SeenRequest[];
  /** What was handed to executors, in order of their first attempt; sub-agents included. */
  readonly executions: readonly SeenExecution[];
  /** By server of the case: the calls that reached it, in order. */
  readonly served?: { readonly [server: string]: readonly SeenServerCall[] };
  /** By tool: how often its effect really happened. */
  readonly effects: { readonly [tool: string]: number };
  /** The greatest number of tool executions at once. */
  readonly maxInFlight: number;
  /** Runs of the case that it is not about: sub-agents, and runs that have the task. */
  readonly others?: readonly SeenRun[];
  /** Violated invariants, in words. */
  readonly violations: readonly string[];
  /** How often a session was saved. */
  readonly persisted: number;
  readonly resumedWith: readonly string[];
  /** Wall time of the engine, ms. */
  readonly tookMs: number;
  /** The exported history replayed without an error; undefined when there is none (simulation). */
  readonly replayed?: boolean;
  /** Of a goal; `events` and `result` are then its own. */
  readonly goal?: GoalSeen;
}

export interface GoalSeen {
  /** Everything that the goal and its cycles told, in order. */
  readonly tree: readonly RunEvent[];
  /** What it remembered at its end. */
  readonly memory?: GoalMemory;
  /** By cycle: what its first request says of the task; empty where none was made. */
  readonly briefs: readonly string[];
}

export interface SeenMessage {
  readonly letter: 'U' | 'A' | 'R';
  readonly messageId: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: Json }[];
  readonly results: readonly {
    readonly id: string;
    readonly isError: boolean;
    /** As the model sees it. */
    readonly text: string;
  }[];
  /** Media types. */
  readonly files?: readonly string[];
  readonly synthetic: boolean;
  readonly partial: boolean;
}

export interface SeenRun {
  readonly runId: string;
  /** Of its agent, as whoever started it calls it. */
  readonly name: string;
  readonly events: readonly RunEvent[];
  readonly requests: readonly SeenRequest[];
}

export interface SeenRequest {
  /** Of the run that asked; absent: the case has but one. */
  readonly runId?: string;
  readonly model: string;
  readonly maxTokens: number;
  /** Registry names of the tools offered. */
  readonly tools: readonly string[];
  readonly system: string;
  readonly messages: readonly SeenMessage[];
}

/** A call as a server got it. */
export interface SeenServerCall {
  readonly tool: string;
  readonly input: Json;
  /** What people have answered, by question. */
  readonly answers?: Json;
  /** What the server had handed out with its questions. */
  readonly state?: string;
}

export interface SeenExecution {
  readonly callId: string;
  readonly tool: string;
  readonly key: string;
  readonly input: Json;
  readonly sandbox: boolean;
  readonly attempts: number;
  /** In the engine's own time, ms. */
  readonly startedAt: number;
  readonly endedAt: number;
}

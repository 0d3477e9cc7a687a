/** A tool as the worker holds it: its frozen record and its code, found by `name@version`. */
import type { Json } from '../core/json/json.js';
import type { ToolRecord } from '../core/state/tool.js';
import type { HostedDeclaration } from '../core/state/transcript.js';
import type { ToolControls } from './controls.js';
import type { ParsedInput } from './schema-forms.js';
import type { Sandbox } from './sandbox/sandbox.js';

/** What a tool's code learns of its call. */
export interface ToolContext {
  readonly runId: string;
  readonly tenant: string;
  readonly callId: string;
  /** Stays the same over every retry, redelivery and reset of this call. */
  readonly idempotencyKey: string;
  /**
   * 1 at the first execution of the tool's code that is known of, greater at a later one. It is no count: the ordinary attempt
   * after a quick one says 1 again, and a number may come twice where a keyed call that was lost is attempted anew. What
   * may happen only once goes by `idempotencyKey`.
   */
  readonly attempt: number;
  readonly traceId: string;
  /** Aborts at the tool's timeout and when the run is interrupted. */
  readonly signal: AbortSignal;
  /**
   * Adds to what this execution costs, in whole micro-USD; it counts in the run's budget of money. The tool declares the
   * most that one execution may cost (`maxCostMicroUsd`), which is reserved before and charged when the execution is
   * lost. A figure that is no whole number from 0 is charged as that bound. In a probe nothing is counted.
   */
  readonly cost: (microUsd: number) => void;
  /** The run's work folder, and commands in it that are isolated from everything else: for `sandboxRun` and `probe`. */
  readonly sandbox: Sandbox;
  /** Tells how far the call is; at most 10 notes of one execution, of 200 characters each, become events when it ends. */
  readonly note?: (text: string) => void;
}

/** A checked tool. Made by `defineTool`; `record` is what runs freeze of it, `parse` checks arguments. */
export interface Tool {
  readonly record: ToolRecord;
  readonly description: string;
  readonly inputSchema: Json;
  readonly parse: (value: unknown) => ParsedInput;
  /** Why a result does not fit the tool's output schema; absent: any JSON will do (G73). */
  readonly outputDefect?: (value: Json) => string | undefined;
  /** The vendor runs it and `run` is never called (G48). */
  readonly hosted?: HostedDeclaration;
  /** Limits across runs, and what its effects are about; absent: none. */
  readonly controls?: ToolControls;
  /** With kind 'subagent': which agent it starts, and with which task; absent: its argument `name` says. */
  readonly starts?: StartedAgent;
  readonly run: (input: unknown, ctx: ToolContext) => Promise<unknown>;
  /** The same in the tool's sandbox (G18). */
  readonly sandboxRun?: (input: unknown, ctx: ToolContext) => Promise<unknown>;
  /** Its `sandboxRun` needs a worker that can isolate commands. */
  readonly isolated?: true;
  /** What the tool returned for this key, or null when nothing happened under it. */
  readonly probe?: (input: unknown, ctx: ToolContext) => Promise<unknown>;
}

export interface StartedAgent {
  /** An `Agent` (agent.ts). */
  readonly agent: unknown;
  readonly taskOf: (input: unknown) => string;
}

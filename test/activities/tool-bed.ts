/** One tool in a bed of its own, and ways to execute it. */
import type { ActivityCancellationDetails } from '@temporalio/common';
import { z } from 'zod';
import { defineTool, type Tool, type ToolContext } from '../../authoring/index.js';
import type { ExecuteToolInput, ExecuteToolOutput } from '../../core/state/effect.js';
import type { ToolEffect, ToolRecord } from '../../core/state/tool.js';
import {
  attempt,
  callOf,
  effect,
  environmentOf,
  executeInput,
  RUN,
  startBed,
  type Bed,
} from './setup.js';

export type Run = (input: Record<string, unknown>, ctx: ToolContext) => unknown;

export interface Shape {
  readonly effect?: ToolEffect;
  readonly idempotency?: 'natural' | 'keyed' | 'none';
  readonly maxResultBytes?: number;
  readonly maxCostMicroUsd?: number;
  readonly output?: z.ZodType;
  readonly sandbox?: 'optional' | 'required';
  readonly sandboxRun?: Run;
  readonly probe?: () => unknown;
  /** A server's tool. */
  readonly mcp?: ToolRecord['mcp'];
}

export const FINANCIAL: Shape = { effect: 'financial', idempotency: 'keyed' };
export const KEYED_WRITE: Shape = { effect: 'write', idempotency: 'keyed' };

export const call = callOf('it', { a: 1 });
export const SUBJECT = { runId: RUN.runId, callKey: '1', tool: 'it' } as const;
export const TARGET = {
  tenant: 'default',
  key: call.key,
  argsDigest: call.digest,
  attempt: 1,
} as const;

export interface ToolBed extends Bed {
  /** The tool has been called. */
  readonly begun: Promise<void>;
}

export async function bedWith(run: Run, shape: Shape = {}): Promise<ToolBed> {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const telling: Run = (input, ctx) => {
    begin();
    return run(input, ctx);
  };
  return { ...(await startBed({ tools: [toolOf(telling, shape)] })), begun };
}

/** Answers only once it was stopped, well within its grace. */
export function answersLate(answer: string): Run {
  return (_input, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => setTimeout(() => resolve(answer), 5));
    });
}

export function execute(
  bed: Bed,
  info = effect(),
  changes: Partial<ExecuteToolInput> = {},
): Promise<ExecuteToolOutput> {
  return attempt(bed.activities().execute_tool, executeInput(call, changes), info);
}

/** Executes, and stops it once its tool was called: by the run, unless the details say otherwise. */
export async function interrupted(
  bed: ToolBed,
  details?: ActivityCancellationDetails,
  changes: Partial<ExecuteToolInput> = {},
): Promise<ExecuteToolOutput> {
  const environment = environmentOf(effect());
  const { execute_tool } = bed.activities();
  const running = environment.run(execute_tool, executeInput(call, changes));
  await Promise.race([bed.begun, running]);
  environment.cancel(undefined, details);
  return (await running) as ExecuteToolOutput;
}

function toolOf(run: Run, shape: Shape): Tool {
  const tool = defineTool({
    name: 'it',
    version: '1',
    effect: shape.effect ?? 'read',
    ...(shape.idempotency && { idempotency: shape.idempotency }),
    ...(shape.sandbox && { sandbox: shape.sandbox }),
    ...(shape.sandboxRun && { sandboxRun: shape.sandboxRun }),
    ...(shape.probe && { probe: shape.probe }),
    ...(shape.maxResultBytes && { maxResultBytes: shape.maxResultBytes }),
    ...(shape.maxCostMicroUsd && { maxCostMicroUsd: shape.maxCostMicroUsd }),
    ...(shape.output && { output: shape.output }),
    input: z.looseObject({}),
    run,
  });
  return shape.mcp === undefined ? tool : { ...tool, record: { ...tool.record, mcp: shape.mcp } };
}

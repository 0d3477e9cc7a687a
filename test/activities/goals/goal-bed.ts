/** A goal in a bed of activities: its definition and memory in the store, cycles with calls that have results. */
import { z } from 'zod';
import { defineTool, type Tool } from '../../../authoring/index.js';
import { canonicalJson, sha256Hex, type Json } from '../../../core/json/json.js';
import type {
  ExecuteToolInput,
  ExecuteToolOutput,
  OpenRunOutput,
} from '../../../core/state/effect.js';
import type { RunEvent } from '../../../core/state/event.js';
import type { StoredDefinition } from '../../../core/state/goal/definition.js';
import type { GoalMemory } from '../../../core/state/goal/memory.js';
import type { Proposal } from '../../../core/state/goal/proposal.js';
import type { ToolEffect } from '../../../core/state/tool.js';
import { attempt, callOf, effect, executeInput, type Bed } from '../setup.js';

export const GOAL = { tenant: 'default', runId: 'goal_1', traceId: 'trace' } as const;

export const MEMORY: GoalMemory = {
  v: 1,
  plan: { revision: 1, steps: [{ id: 'a', title: 'First', status: 'open', by: 'agent' }] },
  state: {},
  notes: [],
  log: [],
  measurements: {},
  reviews: [],
  children: [],
  evidence: [],
  ancestors: [],
};

export const DEFINITION: StoredDefinition = {
  objective: 'All invoices of March are matched.',
  agent: 'helper',
  handoffTo: ['other'],
  done: { all: [{ plan: 'complete' }] },
  budget: { maxCostMicroUsd: 1_000_000 },
  maxAskedPauseMs: 3_600_000,
};

export function toolNamed(
  name: string,
  run: (input: Record<string, unknown>) => unknown = () => 'done',
  kind: ToolEffect = 'read',
): Tool {
  return defineTool({ name, version: '1', effect: kind, input: z.looseObject({}), run });
}

export async function stored(bed: Bed, value: unknown): Promise<string> {
  return (await bed.store.putBlob(GOAL.tenant, JSON.stringify(value))).$blob;
}

const START = { v: 1, agent: 'helper', task: { goal: 'Do it.' } } as const;

export interface Told {
  readonly memory?: Partial<GoalMemory>;
  readonly definition?: Partial<StoredDefinition>;
  readonly goal?: string;
}

/** Registers a cycle; gives its run id. */
export async function cycle(bed: Bed, n: number, told: Told = {}): Promise<string> {
  const { goal = GOAL.runId } = told;
  const child = `${goal}:c${n}`;
  const start = {
    v: 1,
    memory: await stored(bed, { ...MEMORY, ...told.memory }),
    definition: await stored(bed, { ...DEFINITION, ...told.definition }),
    task: START.task,
    context: [],
    start: START,
    reads: [],
    sections: {},
    tokens: 0,
  };
  const text = canonicalJson(start);
  const { tenant } = GOAL;
  const digest = sha256Hex(text);
  await bed.store.registerChild({ tenant, child, parent: goal, n, digest, start: text });
  return child;
}

/** Opens a run: as a cycle, if it is registered as one. */
export async function openCycle(bed: Bed, runId: string): Promise<OpenRunOutput> {
  const row = await bed.store.childRow(GOAL.tenant, runId);
  const parent = row && { kind: 'goal' as const, id: row.parent, n: row.n, digest: row.digest };
  return attempt(bed.activities().open_run, {
    v: 1,
    run: { ...GOAL, runId },
    segment: 0,
    start: { ...START, ...(parent && { parent }) },
    events: [],
  });
}

export interface PastCall {
  readonly callId: string;
  readonly tool: string;
  readonly args?: Json;
  readonly text?: string;
  readonly status?: 'ok' | 'error';
  readonly synthetic?: boolean;
  readonly key?: string;
}

/** Calls of a run that have ended, as its events tell. */
export async function calls(bed: Bed, runId: string, past: readonly PastCall[]): Promise<void> {
  const events = past.flatMap((call, index): readonly RunEvent[] => {
    const { callId, tool, args = {}, text = '', status = 'ok', synthetic = false } = call;
    const { key = `${runId}:${index + 1}` } = call;
    const stamp = (seq: number) =>
      ({ seq, runId, traceId: 'trace', at: 1, phase: 'initializing', step: 0, turn: 0 }) as const;
    return [
      { type: 'tool_started', callId, tool, key, args, stamp: stamp(2 * index) },
      {
        type: 'tool_finished',
        callId,
        tool,
        status,
        content: { text },
        synthetic,
        started: true,
        attempts: 1,
        durationMs: 1,
        key,
        stamp: stamp(2 * index + 1),
      },
    ];
  });
  await bed.store.appendEvents({ tenant: GOAL.tenant, runId, execution: 'exec-c' }, events);
}

/** What a goal tool says to its cycle. */
export function tell(
  bed: Bed,
  runId: string,
  { tool, input, key = `${runId}:k1` }: { tool: string; input: Json; key?: string },
): Promise<ExecuteToolOutput> {
  const call = callOf(tool, input, { key });
  const changes: Partial<ExecuteToolInput> = { run: { ...GOAL, runId } };
  const grant = { ...executeInput(call).grant, basis: 'tool' } as const;
  return attempt(
    bed.activities().execute_tool,
    executeInput(call, { ...changes, grant }),
    effect(),
  );
}

export async function proposals(bed: Bed, n: number): Promise<readonly Proposal[]> {
  const rows = await bed.store.listProposals(GOAL.tenant, GOAL.runId, n);
  return rows.map(({ proposal }) => proposal);
}

/** What the model is told. */
export function saidBy({ outcome }: ExecuteToolOutput): string {
  if (outcome.kind === 'ok') return 'text' in outcome.content ? outcome.content.text : '';
  return outcome.kind === 'error' ? `${outcome.code}: ${outcome.message}` : outcome.kind;
}

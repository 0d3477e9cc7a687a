/**
 * Where a run stands in its tree, which sub-agent a call names, and what that sub-agent may cost.
 * Invariant: the slices of all open sub-agents and what is spent never pass a budget of their parent.
 */
import { committedMicroUsd, inputUsed } from '../money/budget.js';
import { ownValue, type Json } from '../json/json.js';
import type { Call } from '../state/call.js';
import type { OpenRun } from '../state/run.js';
import { DEFAULT_TREE_LIMITS, type Lineage, type SubAgent } from '../state/sub-agent.js';
import type { BudgetOverrides } from '../state/task.js';
import type { ToolRecord } from '../state/tool.js';
import { left, remainingMs } from '../step/clock.js';

/** Where a run stands; a root stands above all. */
export function lineageOf(run: OpenRun): Pick<Lineage, 'root' | 'path' | 'limits'> {
  const { lineage, treeLimits = DEFAULT_TREE_LIMITS, agent } = run.frozen;
  return lineage ?? { root: run.runId, path: [agent.name], limits: treeLimits };
}

/** The sub-agent that a call names, if the run has it. */
export function subAgentOf(
  run: OpenRun,
  tool: ToolRecord,
  args: Json,
): { readonly name: string; readonly agent: SubAgent | undefined } {
  const named = tool.startsAgent ?? nameIn(args);
  return { name: named, agent: ownValue(run.frozen.agents ?? {}, named) };
}

function nameIn(args: Json): string {
  const name =
    typeof args === 'object' && args !== null ? (args as { name?: Json }).name : undefined;
  return typeof name === 'string' ? name : '';
}

/** What is reserved for a sub-agent; an absent field has no limit. */
export interface Slice {
  readonly costMicroUsd?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** Named money in full or nothing; else a share of what is left. Undefined: there is none. */
export function sliceFor(run: OpenRun, call: Call, agent: SubAgent): Slice | undefined {
  const { budget } = run.frozen;
  const { children = [] } = run;
  const sharers = sharersOf(run, call);
  const money = left(committedMicroUsd(run), budget.maxCostMicroUsd);
  const named = agent.budget?.maxCostMicroUsd;
  const cost = typeof named === 'number' ? named : Math.floor(money / sharers);
  if (cost > money || cost <= 0) return undefined;
  const share = (used: number, limit: typeof budget.maxInputTokens, taken: keyof Slice): number => {
    const reserved = children.reduce((sum, child) => sum + (child[taken as 'inputTokens'] ?? 0), 0);
    return Math.floor(left(used + reserved, limit) / sharers);
  };
  const inputTokens = share(inputUsed(run), budget.maxInputTokens, 'inputTokens');
  const outputTokens = share(run.tally.usage.output, budget.maxOutputTokens, 'outputTokens');
  if (inputTokens <= 0 || outputTokens <= 0) return undefined;
  return {
    ...(Number.isFinite(cost) && { costMicroUsd: cost }),
    ...(Number.isFinite(inputTokens) && { inputTokens }),
    ...(Number.isFinite(outputTokens) && { outputTokens }),
  };
}

/** Sub-agents of this turn that may still be opened beside one another, this one among them. */
function sharersOf(run: OpenRun, call: Call): number {
  const { settings, budget } = run.frozen;
  if (settings.toolExecution === 'serial') return 1;
  const { children = [] } = run;
  const { limits } = lineageOf(run);
  const room = Math.min(limits.atOnce, budget.maxParallelToolCalls) - children.length;
  const waiting = (run.turn?.calls ?? []).filter(
    (other) => other.index >= call.index && isToBegin(other) && isSubAgent(run, other),
  );
  return Math.max(1, Math.min(room, waiting.length));
}

function isToBegin({ stage }: Call): boolean {
  return stage !== 'settled' && stage !== 'delegated' && stage !== 'returned';
}

function isSubAgent(run: OpenRun, { tool }: Pick<Call, 'tool'>): boolean {
  return run.frozen.tools.some(({ name, kind }) => name === tool && kind === 'subagent');
}

/** What its declaration says, cut by what is left of its parent's budget. */
export function budgetOf(run: OpenRun, { budget = {} }: SubAgent, slice: Slice): BudgetOverrides {
  const { timeoutMs } = budget;
  const timeLeft = remainingMs(run);
  const own = typeof timeoutMs === 'number' ? timeoutMs : Number.POSITIVE_INFINITY;
  const time = Math.min(own, timeLeft);
  const calls = left(run.tally.toolCalls, run.frozen.budget.maxToolCalls);
  const { costMicroUsd, inputTokens, outputTokens } = slice;
  const lower = (mine: BudgetOverrides[keyof BudgetOverrides], most: number): number =>
    typeof mine === 'number' ? Math.min(mine, most) : most;
  return {
    ...budget,
    ...(costMicroUsd !== undefined && { maxCostMicroUsd: costMicroUsd }),
    ...(inputTokens !== undefined && { maxInputTokens: lower(budget.maxInputTokens, inputTokens) }),
    ...(outputTokens !== undefined && {
      maxOutputTokens: lower(budget.maxOutputTokens, outputTokens),
    }),
    ...(Number.isFinite(time) && { timeoutMs: Math.max(0, Math.floor(time)) }),
    ...(Number.isFinite(calls) && budget.maxToolCalls === undefined && { maxToolCalls: calls }),
  };
}

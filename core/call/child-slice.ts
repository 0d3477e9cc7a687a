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
  const isTool = tool.startsAgent === undefined && isOwnTool(run, named);
  return { name: named, agent: isTool ? undefined : ownValue(run.frozen.agents ?? {}, named) };
}

/** Those that a call may name: agents that are tools start by their tools alone. */
export function namedAgents(run: OpenRun): readonly string[] {
  return Object.keys(run.frozen.agents ?? {}).filter((name) => !isOwnTool(run, name));
}

function isOwnTool(run: OpenRun, name: string): boolean {
  return run.frozen.tools.some(({ startsAgent }) => startsAgent === name);
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
  const sharers = sharersOf(run, call, agent);
  const money = left(committedMicroUsd(run), budget.maxCostMicroUsd);
  const named = agent.budget?.maxCostMicroUsd;
  const cost = typeof named === 'number' ? named : shareOf(money, sharers);
  if (cost > money || cost <= 0) return undefined;
  const share = (used: number, limit: typeof budget.maxInputTokens, taken: keyof Slice): number => {
    const reserved = children.reduce((sum, child) => sum + (child[taken as 'inputTokens'] ?? 0), 0);
    return Math.floor(left(used + reserved, limit) / sharers.length);
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

/** Money that no named one takes in full is shared by the others. */
function shareOf(money: number, sharers: readonly SubAgent[]): number {
  const named = sharers.flatMap(({ budget }) => {
    const most = budget?.maxCostMicroUsd;
    return typeof most === 'number' ? [most] : [];
  });
  // One that cannot be paid is not started, and takes nothing.
  const rest = named.reduce((still, most) => (most <= still ? still - most : still), money);
  return Math.floor(rest / Math.max(1, sharers.length - named.length));
}

/** Sub-agents of this turn that may still be opened beside one another, this one first. */
function sharersOf(run: OpenRun, call: Call, agent: SubAgent): readonly SubAgent[] {
  const { settings, budget } = run.frozen;
  if (settings.toolExecution === 'serial' || agent.parallel !== true) return [agent];
  const { children = [] } = run;
  const { limits } = lineageOf(run);
  const room = Math.min(limits.atOnce, budget.maxParallelToolCalls) - children.length;
  const waiting = (run.turn?.calls ?? []).flatMap((other): readonly SubAgent[] => {
    if (other.index <= call.index || !isToBegin(other)) return [];
    const beside = agentOf(run, other);
    return beside?.parallel === true ? [beside] : [];
  });
  return [agent, ...waiting.slice(0, Math.max(0, room - 1))];
}

function isToBegin({ stage }: Call): boolean {
  return stage !== 'settled' && stage !== 'delegated' && stage !== 'returned';
}

function agentOf(run: OpenRun, call: Call): SubAgent | undefined {
  const tool = run.frozen.tools.find(({ name }) => name === call.tool);
  return tool?.kind === 'subagent' ? subAgentOf(run, tool, call.args).agent : undefined;
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
    ...(Number.isFinite(calls) && { maxToolCalls: lower(budget.maxToolCalls, calls) }),
  };
}

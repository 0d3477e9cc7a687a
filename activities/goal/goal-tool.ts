/**
 * What the tools `goal_*` of a cycle do: each call is checked against the plan and state that the cycle began with, its
 * own earlier proposals and the store, and kept as a row which the goal reads when the cycle is closed.
 * Invariants: a proposal is kept whole or not at all, once for each call however often it is delivered; nothing outside
 * the goal changes; what is refused is said by name, as an error of the tool.
 */
import { goalToolOf } from '../../authoring/goal/goal-tools.js';
import { ToolError } from '../../authoring/tool-error.js';
import type { ExecuteToolInput } from '../../core/state/effect.js';
import type { StoredDefinition } from '../../core/state/goal/definition.js';
import { MEMORY_LIMITS, type GoalMemory } from '../../core/state/goal/memory.js';
import type { GoalToolName, Proposal } from '../../core/state/goal/proposal.js';
import { toolKey } from '../../core/state/tool.js';
import { proposalDefect } from '../../pure/goal/proposal-defect.js';
import type { StoreCalls } from '../../store/store.js';
import { now, type ActivityDeps } from '../deps.js';
import { appendEvents } from '../run/append-events.js';
import type { Scope } from '../scope.js';
import type { RunnableCall } from '../tool/tool-call.js';
import { evidenceReader } from './evidence-reader.js';
import type { CycleSite, Judged } from './cycle-site.js';
import { GOAL_CALLS } from './goal-calls.js';
import { storedJson } from './stored-json.js';

export interface GoalCall {
  readonly runnable: RunnableCall;
  /** What the run is warned of, once its code has run. */
  readonly warnings: readonly string[];
}

/** The call with its code, if it is one of the goal's tools; undefined: it is another's. */
export function goalCall(
  deps: ActivityDeps,
  scope: Scope,
  { input, runnable }: { readonly input: ExecuteToolInput; readonly runnable: RunnableCall },
): GoalCall | undefined {
  const key = toolKey(runnable.tool.record);
  if (deps.config.tools.has(key) || goalToolOf(key) === undefined) return undefined;
  const warnings: string[] = [];
  const run = async (given: unknown): Promise<string> => {
    const judged = await propose(deps, scope, { input, given });
    warnings.splice(0, warnings.length, ...judged.warnings);
    if (judged.refusal !== undefined) throw new ToolError(judged.refusal);
    return judged.says;
  };
  return { runnable: { ...runnable, tool: { ...runnable.tool, run } }, warnings };
}

interface Given {
  readonly input: ExecuteToolInput;
  readonly given: unknown;
}

async function propose(
  deps: ActivityDeps,
  scope: Scope,
  { input, given }: Given,
): Promise<Judged & { readonly warnings: readonly string[] }> {
  // What the call cites may be on its way to the store with the call itself.
  await appendEvents(deps.store, scope, input);
  return deps.store.together(async (store) => {
    const { call } = input;
    const { place, site } = await siteOf({ ...deps, store }, input);
    // The call was checked against the schema of this very tool.
    const judge = GOAL_CALLS[call.tool as GoalToolName] as (
      site: CycleSite,
      given: unknown,
    ) => Promise<Judged>;
    const judged = await judge(site, given);
    const warnings = judged.unknown.length === 0 ? [] : [unknownText(call.tool, judged.unknown)];
    const keep = async (key: string, proposal: Proposal): Promise<boolean> =>
      (await store.putProposal({ ...place, key, proposal })) !== undefined;
    if (judged.unknown.length > 0) {
      const evidence = judged.unknown.slice(0, MEMORY_LIMITS.evidenceIds);
      await keep(`${call.key}:warning`, { kind: 'warning', evidence });
    }
    if (judged.refusal !== undefined) return { ...judged, warnings };
    const defect = proposalDefect(judged.proposal);
    if (defect !== undefined) {
      return { unknown: judged.unknown, refusal: `Not kept. ${defect}`, warnings };
    }
    if (await keep(call.key, judged.proposal)) return { ...judged, warnings };
    const refusal = 'Not kept: this cycle has proposed as much as one cycle may.';
    return { unknown: judged.unknown, refusal, warnings };
  });
}

const IDS_SHOWN_MAX = 5;
const ID_CHARS_MAX = 100;

function unknownText(tool: string, ids: readonly string[]): string {
  return `${tool} names evidence that does not exist in this goal: ${quoted(ids)}`;
}

/** Ids come from a model: they are quoted and cut. */
export function quoted(ids: readonly string[]): string {
  const shown = ids.slice(0, IDS_SHOWN_MAX).map((id) => JSON.stringify(id.slice(0, ID_CHARS_MAX)));
  return `${shown.join(', ')}${ids.length > shown.length ? ', …' : ''}`;
}

/** What of a cycle's stored start its goal tools need. */
interface CycleStart {
  /** Hashes of texts in the store. */
  readonly memory: string;
  readonly definition: string;
}

async function siteOf(
  deps: Pick<ActivityDeps, 'config' | 'clock'> & { readonly store: StoreCalls },
  input: ExecuteToolInput,
) {
  const { call } = input;
  const { tenant, runId } = input.run;
  const { store, config } = deps;
  const row = await store.childRow(tenant, runId);
  if (row === undefined) throw new ToolError('This run works for no goal.');
  if (row.state === 'sealed') throw new ToolError('This cycle is closed: nothing more is kept.');
  const { parent: goal, n: cycle } = row;
  const start = JSON.parse(row.start) as CycleStart;
  const memory = await storedJson<GoalMemory>(store, input, start.memory);
  const definition = await storedJson<StoredDefinition>(store, input, start.definition);
  const rows = await store.listProposals(tenant, goal, cycle);
  const own = rows.find(({ key }) => key === call.key);
  const before = own === undefined ? rows : rows.filter(({ k }) => k < own.k);
  const site: CycleSite = {
    at: now(deps),
    memory,
    definition,
    before: before.map(({ proposal }) => proposal),
    ...(own !== undefined && { own: own.proposal }),
    reader: evidenceReader({ store, config }, { tenant, goal, memory }),
  };
  return { place: { tenant, goal, cycle }, site };
}

/**
 * prepare_cycle: the brief of a cycle, and the row by which its run will be known.
 * Invariants: the same goal gives the same brief and digest; the row is there before the run is started; a cycle that
 * began before a reset is not begun again.
 */
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import type { StoredDefinition } from '../../core/state/goal/definition.js';
import type { PrepareCycleInput, PrepareCycleOutput } from '../../core/state/goal/payloads.js';
import { inputPrice } from '../../core/money/budget.js';
import type { BudgetOverrides, SettingsOverrides } from '../../core/state/task.js';
import { briefLimit, composeBrief, type Brief } from '../../pure/goal/brief.js';
import { childText, type ChildStart, type ChildText } from '../../pure/goal/child-start.js';
import { resolveRoute } from '../../providers/routes.js';
import type { StoreCalls } from '../../store/store.js';
import type { ActivityDeps, InTransaction } from '../deps.js';
import { appendEvents } from '../run/append-events.js';
import { beginning } from '../run/append-items.js';
import type { Scope } from '../scope.js';
import { readMemory } from './stored-memory.js';
import { storedJson } from './stored-json.js';

const GOAL_CHARS_SHOWN = 200;

export async function prepareCycle(
  deps: ActivityDeps,
  scope: Scope,
  input: PrepareCycleInput,
): Promise<PrepareCycleOutput> {
  return deps.store.together(async (store) => {
    const eventsUpTo = await appendEvents(store, scope, input);
    const child = (await approvedChild(store, input)) ?? (await childOf({ ...deps, store }, input));
    const stored = childText(child);
    if (!input.register) {
      await store.putBlob(input.run.tenant, stored.text);
      return { ...prepared(input, child, stored), eventsUpTo };
    }
    const { namespace } = scope;
    return { ...(await registered(store, input, { child, stored, namespace })), eventsUpTo };
  });
}

/** The brief that people were shown: a worker of another release would write another one. */
async function approvedChild(
  store: StoreCalls,
  { run, approved, memory, reads }: PrepareCycleInput,
): Promise<ChildStart | undefined> {
  const text = approved === undefined ? undefined : await store.getBlob(run.tenant, approved);
  if (text === undefined) return undefined;
  const child = JSON.parse(text) as ChildStart;
  const isOfNow = child.memory === memory && child.reads.length === reads.length;
  return isOfNow && reads.every(({ id }, place) => child.reads[place] === id) ? child : undefined;
}

type Prepared = Omit<PrepareCycleOutput, 'eventsUpTo'>;

interface ToRegister {
  readonly child: ChildStart;
  readonly stored: ChildText;
  readonly namespace: string;
}

async function registered(
  store: StoreCalls,
  input: PrepareCycleInput,
  { child, stored, namespace }: ToRegister,
): Promise<Prepared> {
  const { tenant, runId: parent } = input.run;
  const { digest, text: start } = stored;
  const { child: id, n } = input;
  const found = await store.registerChild({
    tenant,
    child: id,
    parent,
    n,
    digest,
    start,
    namespace,
  });
  if (found !== 'taken') {
    await store.putBlob(tenant, start);
    return prepared(input, child, stored);
  }
  const row = await store.childRow(tenant, id);
  if (row?.parent !== parent || row.n !== n)
    return { ...prepared(input, child, stored), taken: true };
  const earlier = JSON.parse(row.start) as ChildStart;
  return {
    ...prepared(input, earlier, childText(earlier)),
    begun: true,
    unheard: unheard(input, earlier),
  };
}

function unheard({ reads }: PrepareCycleInput, earlier: ChildStart): readonly number[] {
  return reads.flatMap(({ id }, place) => (earlier.reads.includes(id) ? [] : [place]));
}

function prepared(
  { run, n }: PrepareCycleInput,
  { start, sections, tokens }: ChildStart,
  { digest }: ChildText,
): Prepared {
  return {
    // Its digest is that of its text, by which the store has it.
    brief: { hash: digest, digest, tokens, sections },
    start: { ...start, parent: { kind: 'goal', id: run.runId, n, digest } },
  };
}

async function childOf(deps: InTransaction, input: PrepareCycleInput): Promise<ChildStart> {
  const { store } = deps;
  const { run, reads } = input;
  const definition = await storedJson<StoredDefinition>(store, input, input.definition);
  const memory = await readMemory(store, input, input.memory);
  const said = await Promise.all(
    reads.map(async ({ text, by, proven }) => {
      return { text: await store.getText(run.tenant, text), by, proven };
    }),
  );
  const { objective, constraints = [] } = definition;
  const { feedback, checks, n } = input;
  const maxTokens = limitOf(deps, input);
  const brief = composeBrief({
    objective,
    constraints,
    memory,
    reads: said,
    feedback,
    checks,
    n,
    maxTokens,
  });
  const caller = (await store.getRun(run.tenant, run.runId))?.caller;
  const isPinned = input.agentVersion !== undefined && input.agent === definition.agent;
  return {
    v: 1,
    memory: input.memory,
    definition: input.definition,
    task: {
      ...brief.task,
      traceId: run.traceId,
      ...(caller !== undefined && { caller }),
    },
    context: brief.context,
    start: startOf(input, { definition, brief, caller }),
    ...(isPinned && { agentVersion: input.agentVersion }),
    reads: reads.map(({ id }) => id),
    sections: brief.sections,
    tokens: brief.tokens,
  };
}

/** Where this worker does not know the model, the money does not limit the brief. */
function limitOf({ config }: Pick<ActivityDeps, 'config'>, input: PrepareCycleInput): number {
  const { briefTokens, slice, agent } = input;
  const model = config.agents.get(agent)?.model;
  const price = model === undefined ? 0 : inputPrice(resolveRoute(model, config).prices);
  return briefLimit({
    briefTokens,
    sliceMicroUsd: slice.maxCostMicroUsd,
    inputMicroUsdPerMillion: price,
    maxInputTokens: slice.maxInputTokens,
  });
}

interface Parts {
  readonly definition: StoredDefinition;
  readonly brief: Brief;
  readonly caller: string | undefined;
}

function startOf(
  { run, agent, slice, unservedMs }: PrepareCycleInput,
  { definition, brief, caller }: Parts,
): ChildStart['start'] {
  const { budget, settings } = limitsOf(definition);
  const goal = beginning(brief.task.goal, GOAL_CHARS_SHOWN);
  return {
    v: 1,
    agent,
    tenant: run.tenant,
    task: { goal, traceId: run.traceId, ...(caller !== undefined && { caller }) },
    budget: { ...budget, ...slice },
    settings: {
      ...settings,
      unservedTimeoutMs: unservedMs,
      afterAnswer: 'complete',
      onBudget: 'stop',
    },
    ...(run.store !== undefined && { store: run.store.id }),
  };
}

/** Budget and settings stand side by side in a definition. */
export function limitsOf({ cycle = {} }: Pick<StoredDefinition, 'cycle'>): {
  readonly budget: BudgetOverrides;
  readonly settings: SettingsOverrides;
} {
  const entries = Object.entries(cycle);
  const isBudget = ([key]: [string, unknown]): boolean => Object.hasOwn(DEFAULT_BUDGET, key);
  return {
    budget: Object.fromEntries(entries.filter(isBudget)) as BudgetOverrides,
    settings: Object.fromEntries(entries.filter((entry) => !isBudget(entry))) as SettingsOverrides,
  };
}

/**
 * prepare_child: the row by which a sub-agent will be known, within the limits of its tree, and what it is started with.
 * Invariants: the same call gives the same row; the row is there before the run is started; what the sub-agent may do is
 * cut here by what its parent may hand on; a sub-agent that began before a reset is not begun again.
 */
import type { PrepareChildInput, PrepareChildOutput } from '../../core/state/effect.js';
import { toolKey } from '../../core/state/tool.js';
import { matchesName } from '../../core/state/policy.js';
import type { StartedAgent } from '../../core/state/started-agent.js';
import type { Authority, Bounds, StoredAuthority } from '../../core/state/sub-agent.js';
import type { Task } from '../../core/state/task.js';
import { childText } from '../../pure/goal/child-start.js';
import type { SubAgentStart } from '../../pure/sub-agent-start.js';
import { thrownText } from '../../pure/thrown-text.js';
import type { StoreCalls } from '../../store/store.js';
import type { ActivityDeps, InTransaction } from '../deps.js';
import { refusalFor } from '../lacking-code.js';
import { appendEvents } from '../run/append-events.js';
import { beginning } from '../run/append-items.js';
import { storedJson } from '../goal/stored-json.js';
import { codeOf } from '../tool/code-of.js';
import type { Scope } from '../scope.js';
import { costOfPassed, stopPassed } from './passed-child.js';

const GOAL_CHARS_SHOWN = 200;
const GOAL_CHARS_MAX = 100_000;

export async function prepareChild(
  deps: ActivityDeps,
  scope: Scope,
  input: PrepareChildInput,
): Promise<PrepareChildOutput> {
  awaitTool(deps, scope, input);
  const output = await deps.store.together(async (store): Promise<PrepareChildOutput> => {
    const eventsUpTo = await appendEvents(store, scope, input);
    const goal = await goalOf({ ...deps, store }, input);
    if (!goal.ok) {
      return { refused: { why: 'invalid_arguments', message: goal.message }, eventsUpTo };
    }
    const child = await startOf(store, input, goal.text);
    const { namespace } = scope;
    return { ...(await registered(store, { ...input, namespace }, child)), eventsUpTo };
  });
  const { refused: why } = output;
  if (why?.why !== 'passed') return output;
  await stopPassed(deps, scope, input);
  const costMicroUsd = await costOfPassed(deps.store, input);
  return costMicroUsd > 0 ? { ...output, refused: { ...why, costMicroUsd } } : output;
}

/** The tool of an agent has code that makes a task of its arguments: another worker may have it. */
function awaitTool(
  deps: ActivityDeps,
  scope: Scope,
  { call, unservedMs }: PrepareChildInput,
): void {
  const tool = { name: call.tool, version: call.toolVersion };
  if (unservedMs === undefined || codeOf(deps.config, tool) !== undefined) return;
  const name = toolKey(tool);
  const refusal = refusalFor(deps, scope, { part: 'tool', name, unservedMs });
  if (refusal !== undefined) throw refusal;
}

type Goal =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

async function goalOf(deps: InTransaction, { run, call }: PrepareChildInput): Promise<Goal> {
  const tool = codeOf(deps.config, { name: call.tool, version: call.toolVersion });
  if (tool === undefined) return { ok: false, message: `No worker has served ${call.tool}.` };
  const parsed = tool.parse(await deps.store.restoreArguments(run.tenant, call.args));
  if (!parsed.ok) return { ok: false, message: parsed.message };
  try {
    const text =
      tool.starts === undefined ? promptIn(parsed.value) : tool.starts.taskOf(parsed.value);
    const isTask = typeof text === 'string' && text.trim() !== '' && text.length <= GOAL_CHARS_MAX;
    if (isTask) return { ok: true, text };
    return { ok: false, message: `The task of a sub-agent has 1 to ${GOAL_CHARS_MAX} characters.` };
  } catch (error) {
    const why = thrownText(error).slice(0, 500);
    return { ok: false, message: `No task can be made of these arguments: ${why}` };
  }
}

function promptIn(args: unknown): string {
  const { prompt } = (args ?? {}) as { readonly prompt?: unknown };
  return typeof prompt === 'string' ? prompt : '';
}

async function startOf(
  store: StoreCalls,
  input: PrepareChildInput,
  goal: string,
): Promise<SubAgentStart> {
  const { run, agent, slice, caller, lineage, unservedMs } = input;
  const role = await roleOf(store, input);
  const given = { traceId: run.traceId, ...(caller !== undefined && { caller }) };
  const schema = agent.outputSchema;
  const task: Task = {
    goal,
    ...given,
    ...(schema !== undefined && {
      outputSchema: JSON.parse(await store.getText(run.tenant, schema)) as NonNullable<
        Task['outputSchema']
      >,
    }),
  };
  return {
    v: 1,
    task,
    start: {
      v: 1,
      agent: agent.agent,
      tenant: run.tenant,
      task: { goal: beginning(goal, GOAL_CHARS_SHOWN), ...given },
      ...(agent.model !== undefined && { model: agent.model }),
      budget: slice,
      settings: {
        ...agent.settings,
        ...(unservedMs !== undefined && { unservedTimeoutMs: unservedMs }),
        afterAnswer: 'complete',
        onBudget: 'stop',
      },
      ...(run.store !== undefined && { store: run.store.id }),
    },
    agentVersion: agent.version,
    ...(role !== undefined && { role }),
    bounds: boundsOf(await storedJson<StoredAuthority>(store, input, input.authority), {
      ...input,
      lineage,
    }),
  };
}

/** Of one that came with the start of its parent. */
async function roleOf(
  store: StoreCalls,
  { run, agent, name }: PrepareChildInput,
): Promise<SubAgentStart['role']> {
  if (agent.role === undefined) return undefined;
  const definition = JSON.parse(await store.getText(run.tenant, agent.role)) as StartedAgent;
  // Roles are named after their agent.
  return { of: agent.agent.slice(0, -(name.length + 1)), name, definition };
}

/** What the parent may hand on, with its mode of now, and less what the declaration takes away. */
function boundsOf(
  authority: StoredAuthority,
  { agent, mode, lineage }: Pick<PrepareChildInput, 'agent' | 'mode' | 'lineage'>,
): Bounds {
  const { policy, allowedTools, within, hookMatches } = authority;
  const parent: Authority = { policy, allowedTools, mode };
  const shown = Object.entries(authority.tools).filter(
    ([name]) =>
      agent.tools === undefined || agent.tools.some((pattern) => matchesName(pattern, name)),
  );
  return {
    tools: shown.map(([, key]) => key),
    disallowedTools: authority.disallowedTools,
    within: [parent, ...within],
    allowBypassPermissions: authority.allowBypassPermissions,
    requireProof: authority.requireProof,
    hooks: authority.hooks,
    ...(hookMatches !== undefined && { hookMatches }),
    lineage,
  };
}

type Prepared = Omit<PrepareChildOutput, 'eventsUpTo'>;

async function registered(
  store: StoreCalls,
  input: PrepareChildInput & Pick<Scope, 'namespace'>,
  child: SubAgentStart,
): Promise<Prepared> {
  const { run, child: id, n, lineage, namespace } = input;
  const { tenant, runId: parent } = run;
  const { text, digest } = childText(child);
  const { root, path, call, limits } = lineage;
  const found = await store.registerChild(
    { tenant, child: id, parent, n, digest, start: text, place: { root, path, call }, namespace },
    limits,
  );
  switch (found) {
    case 'registered':
    case 'same':
      return { start: { ...child.start, parent: { kind: 'run', id: parent, n, digest } } };
    case 'crowded':
      return refused('crowded', `${limits.atOnce} sub-agents are open already.`);
    case 'used_up':
      return refused(
        'used_up',
        `there have been ${limits.inAll} sub-agents, which is all that may be.`,
      );
    case 'taken':
      return earlier(store, input, child);
  }
}

function refused(why: NonNullable<Prepared['refused']>['why'], message: string): Prepared {
  return { refused: { why, message } };
}

/** A parent that was reset finds what it had started: the same task is read, another one gets the next number. */
async function earlier(
  store: StoreCalls,
  { run, child: id, n }: PrepareChildInput,
  wanted: SubAgentStart,
): Promise<Prepared> {
  const { tenant, runId: parent } = run;
  const row = await store.childRow(tenant, id);
  if (row?.parent !== parent || row.n !== n) {
    return refused('child_id_taken', `the run id ${id} is that of another run.`);
  }
  const known = JSON.parse(row.start) as SubAgentStart;
  const isSame =
    known.task.goal === wanted.task.goal &&
    known.start.agent === wanted.start.agent &&
    known.agentVersion === wanted.agentVersion &&
    known.bounds.lineage.call === wanted.bounds.lineage.call;
  if (!isSame) {
    await store.sealChild(tenant, id);
    const message = `the run id ${id} is that of an earlier sub-agent.`;
    return refused('passed', message);
  }
  const { digest } = row;
  return { start: { ...known.start, parent: { kind: 'run', id: parent, n, digest } }, begun: true };
}

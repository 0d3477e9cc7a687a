/**
 * A run, its sub-agents and the runs that it hands its task to as one tree: what both engines make of it for expectations that
 * include them. The run id of a sub-agent is that of its parent with `:a<n>`, of a run that has its task with `:h<n>`.
 */
import type { RunEvent } from '../core/state/event.js';
import type { Action, CaseTool } from './fixture.js';
import type { SeenExecution, SeenRequest, SeenRun } from './engine.js';
import { askFor, inputAskFor } from './scripted/decisions.js';

const SUB_AGENT = /:a\d+$/;

export function isSubAgent(runId: string): boolean {
  return SUB_AGENT.test(runId);
}

const HANDED = /:h\d+$/;

/** It has the task of another run of the case. */
export function isHandedRun(runId: string): boolean {
  return HANDED.test(runId);
}

/** It is not the run that the case is about. */
export function isOtherRun(runId: string): boolean {
  return isSubAgent(runId) || isHandedRun(runId);
}

/** The run, or the cycle of a goal, whose tree a run stands in. */
export function rootOfRun(runId: string): string {
  return runId.replace(/(:[ah]\d+)+$/, '');
}

/** Gives the place in the case whose words a run has; undefined: the case has none for it. */
export type PlaceOf = (runId: string) => string | undefined;

/** Where a run stands below that of its case: `a1:a2`; empty: it is the run of the case, or a cycle. */
export function placeOfRun(runId: string): string {
  return runId.slice(rootOfRun(runId).length + 1);
}

/** The runs of a tree that the case is not about, in the order of their starts. */
export function otherRuns(
  tree: readonly RunEvent[],
  requests: readonly SeenRequest[],
): readonly SeenRun[] {
  const runs = new Map<string, RunEvent[]>();
  for (const event of tree) {
    const { runId } = event.stamp;
    if (isOtherRun(runId)) runs.set(runId, [...(runs.get(runId) ?? []), event]);
  }
  return [...runs].map(([runId, events]) => ({
    runId,
    name: nameOf(events),
    events,
    requests: requests.filter((request) => request.runId === runId),
  }));
}

/** As whoever started it calls it. */
function nameOf([first]: readonly RunEvent[]): string {
  if (first?.type !== 'session_init') return '';
  return first.parent?.path.at(-1) ?? first.agent;
}

/** Events of all runs by the time of each; those of one run keep their order. */
export function mergedByTime(runs: readonly (readonly RunEvent[])[]): readonly RunEvent[] {
  return runs.flat().toSorted((one, other) => one.stamp.at - other.stamp.at);
}

type Kinds = ReadonlyMap<string, Pick<CaseTool, 'kind' | 'builtIn'>>;

/** Calls that no double executes, as executions: those of sub-agents, and of tools of the runtime. */
export function ownExecutions(tree: readonly RunEvent[], tools: Kinds): readonly SeenExecution[] {
  return tree.flatMap((event) => {
    if (event.type !== 'tool_started' || !isOwn(tools, event.tool)) return [];
    const { callId, tool, key, args: input, stamp } = event;
    const end = tree.find((other) => other.type === 'tool_finished' && other.key === key);
    const endedAt = end?.stamp.at ?? stamp.at;
    const execution = { callId, tool, key, input, sandbox: false, attempts: 1 } as const;
    return [{ ...execution, startedAt: stamp.at, endedAt }];
  });
}

function isOwn(tools: Kinds, name: string): boolean {
  const tool = tools.get(name);
  return tool?.kind === 'subagent' || tool?.builtIn === true;
}

/** By tool of the runtime: how often it did what it does. */
export function ownEffects(
  tree: readonly RunEvent[],
  tools: Kinds,
): { readonly [tool: string]: number } {
  const effects: { [tool: string]: number } = {};
  for (const event of tree) {
    if (event.type !== 'tool_finished' || event.status !== 'ok') continue;
    if (tools.get(event.tool)?.builtIn === true)
      effects[event.tool] = (effects[event.tool] ?? 0) + 1;
  }
  return effects;
}

/**
 * The greatest number of executions at once. A call of a sub-agent counts as one, or as what the sub-agent executes
 * where that is more.
 */
export function mostInFlight(tree: readonly RunEvent[]): number {
  /** By run id: calls under way, with the sub-agent that works on each. */
  const flying = new Map<string, Map<string, string | undefined>>();
  const atWork = (runId: string): number => {
    let count = 0;
    for (const child of flying.get(runId)?.values() ?? []) {
      count += child === undefined ? 1 : Math.max(1, atWork(child));
    }
    return count;
  };
  let most = 0;
  for (const event of tree) {
    const { runId } = event.stamp;
    const own = flying.get(runId) ?? new Map<string, string | undefined>();
    flying.set(runId, own);
    if (event.type === 'tool_started') own.set(event.callId, event.child);
    if (event.type === 'tool_finished') own.delete(event.callId);
    const roots = [...flying.keys()].filter((id) => !isSubAgent(id));
    most = Math.max(
      most,
      roots.reduce((sum, id) => sum + atWork(id), 0),
    );
  }
  return most;
}

/** The run of the tree that an answer of a person is for: the one that asked, else the root. */
export function answeredRun(
  action: Extract<Action, { kind: 'resolveApproval' | 'provideInput' }>,
  root: string,
  runs: ReadonlyMap<string, readonly RunEvent[]>,
): string {
  if (action.run !== undefined) return `${root}:${action.run}`;
  const asks = (events: readonly RunEvent[]): boolean =>
    action.kind === 'provideInput'
      ? inputAskFor(action.call, events) !== undefined
      : askFor(action, events) !== undefined;
  const names = (events: readonly RunEvent[]): boolean =>
    action.call === undefined ||
    events.some(
      (event) =>
        event.type === 'model_response' && event.calls.some(({ id }) => id === action.call),
    );
  const own = runs.get(root) ?? [];
  if (asks(own) || (action.call !== undefined && names(own))) return root;
  const asked = [...runs].findLast(([runId, events]) => runId !== root && asks(events));
  return asked?.[0] ?? root;
}

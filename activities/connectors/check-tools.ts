/**
 * Tools of connectors that checks of a goal name, as the goal is opened.
 * Invariants: a goal has a check's tool as it was approved, pinned by its version; a connector that cannot be reached, or does not
 * have the tool, refuses the goal.
 */
import type { Agent, Tool } from '../../authoring/index.js';
import { CONNECTOR_PREFIX, connectorNameOf } from '../../authoring/connectors.js';
import { wrongField } from '../../authoring/goal/field.js';
import type { NormalGoal } from '../../authoring/goal/normal-goal.js';
import type { RunRef } from '../../core/state/effect.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import { listConnectors } from './list-connectors.js';

/** Errors: InvalidTask that names the field. */
export async function checkToolsOf(
  deps: ActivityDeps,
  scope: Scope,
  { run, goal, agent }: { readonly run: RunRef; readonly goal: NormalGoal; readonly agent: Agent },
): Promise<readonly Tool[]> {
  const named = goal.validation.flatMap(({ tool }, index) =>
    tool.startsWith(CONNECTOR_PREFIX) && !isOwn(deps, tool) ? [{ tool, index }] : [],
  );
  if (named.length === 0) return [];
  const wrong = (index: number, why: string): Error =>
    wrongField('The goal', `validation.${index}.tool`, why);
  const unknown = named.find(({ tool }) => !deps.config.connectors.has(connectorNameOf(tool)));
  if (unknown !== undefined) {
    const name = connectorNameOf(unknown.tool);
    throw wrong(unknown.index, `this worker has no connector ${name}`);
  }
  const mcp = named.map(({ tool }) => tool);
  const { tools, report } = await listConnectors(deps, scope, { run, agent: { ...agent, mcp } });
  const missing = named.find(({ tool }) => !tools.some(({ record }) => record.name === tool));
  if (missing === undefined) return tools;
  const [warning] = report?.warnings ?? [];
  const why = warning === undefined ? '' : `: ${warning.message}`;
  throw wrong(missing.index, `no server offers ${missing.tool}${why}`);
}

/** A tool of the configuration may have any name. */
function isOwn({ config }: ActivityDeps, tool: string): boolean {
  return [...config.tools.values()].some(({ record }) => record.name === tool);
}

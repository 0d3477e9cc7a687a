/** The tools of a goal's checks, as this worker has them when the goal is opened. */
import type { Config, Tool } from '../../authoring/index.js';
import { isCheckTool } from '../../authoring/goal/define-goal.js';
import { wrongField } from '../../authoring/goal/field.js';
import type { NormalGoal } from '../../authoring/goal/normal-goal.js';
import type { StoredCheck } from '../../core/state/goal/definition.js';

export type CheckQueues = ReadonlyMap<string, string>;

/**
 * Where checks run whose tools name a task queue, by the names of the checks. `sandboxQueue`: of calls in a sandbox whose tools
 * name none. A check runs in a sandbox only where its tool has to.
 */
export function checkQueues(
  config: Config,
  goal: NormalGoal,
  { served, sandboxQueue }: { readonly served: readonly Tool[]; readonly sandboxQueue?: string },
): CheckQueues {
  return new Map(
    goal.validation.flatMap(({ name, tool }): [string, string][] => {
      const record = checkTool(config, goal, { tool, served })?.record;
      const isInside = record?.sandbox === 'required';
      const own = (isInside ? record?.sandboxQueue : undefined) ?? record?.queue;
      const queue = own ?? (isInside ? sandboxQueue : undefined);
      return queue === undefined ? [] : [[name, queue]];
    }),
  );
}

function checkTool(
  config: Config,
  goal: NormalGoal,
  { tool, served }: { readonly tool: string; readonly served: readonly Tool[] },
): Tool | undefined {
  return toolNamed(config, goal.agent, tool) ?? served.find(({ record }) => record.name === tool);
}

/** Errors: InvalidTask that names the field. */
export function frozenChecks(
  config: Config,
  goal: NormalGoal,
  /** Of connectors. */
  served: readonly Tool[] = [],
): readonly StoredCheck[] {
  return goal.validation.map((check, index) => {
    const field = `validation.${index}`;
    const wrong = (name: string, why: string) => wrongField('The goal', `${field}.${name}`, why);
    const found = checkTool(config, goal, { tool: check.tool, served });
    if (found === undefined) throw wrong('tool', `this worker has no tool ${check.tool}`);
    const { name, version, schemaHash, effect } = found.record;
    if (!isCheckTool(found)) {
      throw wrong('tool', `${name} is no read tool: a check changes nothing (effect 'read')`);
    }
    const parsed = found.parse(check.input);
    if (!parsed.ok) throw wrong('input', parsed.message);
    return { ...check, frozen: { name, version, schemaHash, effect } };
  });
}

/** The agent's own before others; of several versions the newest that is served. */
function toolNamed(config: Config, agent: string, name: string): Tool | undefined {
  const isNamed = ({ record }: Tool): boolean => record.name === name;
  const own = config.agents.get(agent)?.tools.find(isNamed);
  return own ?? [...config.tools.values()].findLast(isNamed);
}

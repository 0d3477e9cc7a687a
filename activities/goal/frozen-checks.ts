/** The tools of a goal's checks, as this worker has them when the goal is opened. */
import type { Config, Tool } from '../../authoring/index.js';
import { isCheckTool } from '../../authoring/goal/define-goal.js';
import { wrongField } from '../../authoring/goal/field.js';
import type { NormalGoal } from '../../authoring/goal/normal-goal.js';
import type { StoredCheck } from '../../core/state/goal/definition.js';

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
    const found =
      toolNamed(config, goal.agent, check.tool) ??
      served.find(({ record }) => record.name === check.tool);
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

/** The code of a tool by its name and version: the configuration's own, or a tool that the runtime gives. */
import { agent as startAgent } from '../../authoring/agent-tool.js';
import { goalToolOf } from '../../authoring/goal/goal-tools.js';
import type { Config, Tool } from '../../authoring/index.js';
import { toolKey, type ToolRecord } from '../../core/state/tool.js';

export function codeOf(
  { tools }: Pick<Config, 'tools'>,
  tool: Pick<ToolRecord, 'name' | 'version'>,
): Tool | undefined {
  const key = toolKey(tool);
  return tools.get(key) ?? runtimeToolOf(key);
}

/** Tools that every worker of this release has, by `name@version`. */
export function runtimeToolOf(key: string): Tool | undefined {
  return key === toolKey(startAgent.record) ? startAgent : goalToolOf(key);
}

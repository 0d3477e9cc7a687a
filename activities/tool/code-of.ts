/** The code of a tool by its name and version: the configuration's own, or a tool that the runtime gives to cycles. */
import { goalToolOf } from '../../authoring/goal/goal-tools.js';
import type { Config, Tool } from '../../authoring/index.js';
import { toolKey, type ToolRecord } from '../../core/state/tool.js';

export function codeOf(
  { tools }: Pick<Config, 'tools'>,
  tool: Pick<ToolRecord, 'name' | 'version'>,
): Tool | undefined {
  const key = toolKey(tool);
  return tools.get(key) ?? goalToolOf(key);
}

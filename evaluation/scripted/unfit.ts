/** Results of a case that do not fit the output schema of their tool, whatever that says. */
import type { Tool } from '../../authoring/index.js';
import { canonicalJson } from '../../core/json/json.js';
import type { CaseTool } from '../fixture.js';

const DEFECT = 'the case says so';

/** What checks results of the tool, besides its own schema. */
export function unfitOf(
  tool: Tool,
  { results, recorded = [] }: Pick<CaseTool, 'results' | 'recorded'>,
): Pick<Tool, 'outputDefect'> {
  const all = [...results, ...recorded.flatMap((call) => call.results)];
  const unfit = new Set(
    all.flatMap((one) => (one.kind === 'unfit' ? [canonicalJson(one.value)] : [])),
  );
  if (unfit.size === 0) return {};
  return {
    outputDefect: (value) =>
      unfit.has(canonicalJson(value)) ? DEFECT : tool.outputDefect?.(value),
  };
}

/**
 * What a captured case lacks for a run that goes further than the recorded one: nobody has recorded it, so somebody
 * writes it by hand.
 */
import { BUDGET_OF } from '../../core/money/exceed.js';
import type { StopReason } from '../../core/state/result.js';
import type { Difference } from '../compare.js';
import type { FixtureDocument } from '../format/document.js';
import type { WrittenReply } from '../format/replies.js';

/** Keys of the case, in the order in which a run comes to miss them. `differences`: as the case plays now. */
export function neededFurther(
  document: FixtureDocument,
  differences: readonly Difference[],
): readonly string[] {
  const { tools = {}, model = [], expected } = document;
  const answered = new Set(
    Object.entries(tools === 'live' ? {} : tools).flatMap(
      ([name, { recorded = [], results = [] }]) =>
        [...recorded.flatMap((one) => one.results), ...results].some((one) => 'ok' in one)
          ? [name]
          : [],
    ),
  );
  const wanted = Object.entries(expected.effects ?? {}).flatMap(([name, times]) =>
    times === 0 ? [] : [name],
  );
  const asked = tools === 'live' ? [] : [...model.flatMap(toolsOf), ...wanted];
  const missing = [...new Set(asked)].filter((name) => !answered.has(name));
  return [
    ...limitsReached(document, differences),
    ...missing.map((name) => `tools.${name}.results`),
    'during',
    'model',
  ];
}

/** Limits of the case that end its run before what is expected of the run. */
function limitsReached(
  { budget = {} }: FixtureDocument,
  differences: readonly Difference[],
): readonly string[] {
  const ended = differences.find(({ path }) => path === 'stop_reason')?.observed;
  const used = BUDGET_OF[ended as StopReason];
  if (used === undefined) return [];
  // A limit that the case does not say is the usual one, or its agent's.
  const isBoth = used === 'maxTurns' && 'maxModelCalls' in budget;
  return [`budget.${used}`, ...(isBoth ? ['budget.maxModelCalls'] : [])];
}

function toolsOf(reply: WrittenReply): readonly string[] {
  if ('reply' in reply) return toolsOf(reply.reply);
  return 'calls' in reply ? (reply.calls ?? []).map(({ tool }) => tool) : [];
}

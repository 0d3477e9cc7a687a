/**
 * What a captured case lacks for a run that goes further than the recorded one: nobody has recorded it, so somebody
 * writes it by hand.
 */
import type { FixtureDocument } from '../format/document.js';
import type { WrittenReply } from '../format/replies.js';

/** Keys of the case, in the order in which a run comes to miss them. */
export function neededFurther(document: FixtureDocument): readonly string[] {
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
  return [...missing.map((name) => `tools.${name}.results`), 'during', 'model'];
}

function toolsOf(reply: WrittenReply): readonly string[] {
  if ('reply' in reply) return toolsOf(reply.reply);
  return 'calls' in reply ? (reply.calls ?? []).map(({ tool }) => tool) : [];
}

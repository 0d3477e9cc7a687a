/** A random case whose reads are tried within the tasks that decide. */
import type { FixtureDocument } from '../../evaluation/format/document.js';
import { READS } from './arbitrary-case.js';

type CaseTool = Exclude<NonNullable<FixtureDocument['tools']>, 'live'>[string];

export function withQuickReads(document: FixtureDocument): FixtureDocument {
  const { tools = {} } = document;
  // Tools of a case whose agent has its own.
  if (tools === 'live') return document;
  const quick = READS.map((name) => [name, { ...recovering(tools[name]), quick: true }] as const);
  return { ...document, tools: { ...tools, ...Object.fromEntries(quick) } };
}

/** The last result stands for all that follow: a quick read that takes down each worker keeps its run from going on. */
function recovering(tool: Partial<CaseTool> = {}): Partial<CaseTool> {
  const { results = [] } = tool;
  const last = results.at(-1);
  return last !== undefined && 'lost' in last
    ? { ...tool, results: [...results, { ok: 'there' }] }
    : tool;
}

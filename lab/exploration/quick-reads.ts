/** A random case whose reads are tried within the tasks that decide. */
import type { FixtureDocument } from '../../evaluation/format/document.js';
import { READS } from './arbitrary-case.js';

export function withQuickReads(document: FixtureDocument): FixtureDocument {
  const { tools = {} } = document;
  // Tools of a case whose agent has its own.
  if (tools === 'live') return document;
  const quick = READS.map((name) => [name, { ...tools[name], quick: true }] as const);
  return { ...document, tools: { ...tools, ...Object.fromEntries(quick) } };
}

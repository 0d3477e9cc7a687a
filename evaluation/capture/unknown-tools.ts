/** Tools that `effects` of a captured case name and nobody has: an expected count of 0 can never fail. */
import { CONNECTOR_PREFIX } from '../../authoring/connectors.js';
import { AGENT_TOOL } from '../../core/state/sub-agent.js';
import { HANDOFF_TOOL } from '../../core/state/handoff.js';
import { didYouMean } from '../../pure/nearest-names.js';
import type { FixtureDocument } from '../format/document.js';
import { withConfiguration } from '../own-agent.js';
import { parseFixture } from '../read-fixture.js';

/** Agents have them by themselves. */
const OWN: readonly string[] = [AGENT_TOOL, HANDOFF_TOOL];

/** In words; `recorded` has every tool of the record, `file` is where the case will lie. Errors: `InvalidFixture`. */
export async function unknownTools(
  document: FixtureDocument,
  { recorded: { tools = {} }, file }: { readonly recorded: FixtureDocument; readonly file: string },
): Promise<readonly string[]> {
  const fixture = parseFixture(JSON.stringify(document), file);
  const { config } = (await withConfiguration(fixture, file)).ownAgent ?? {};
  const ofConfig = [...(config?.tools.values() ?? [])].map(({ record }) => record.name);
  const known = [...new Set([...OWN, ...Object.keys(tools), ...ofConfig])];
  const who = config === undefined ? 'The record has' : 'Record and --config have';
  // Which tools the servers of a configuration have, nobody has asked them.
  const isServed = (name: string): boolean =>
    (config?.connectors.size ?? 0) > 0 && name.startsWith(CONNECTOR_PREFIX);
  return Object.keys(document.expected.effects ?? {})
    .filter((name) => !known.includes(name) && !isServed(name))
    .map(
      (name) =>
        `${who} no tool ${name}: \`effects.${name}\` counts nothing. ${didYouMean(name, known)}`,
    );
}

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
  const known = [...OWN, ...Object.keys(tools)];
  const wanted = Object.keys(document.expected.effects ?? {});
  if (wanted.every((name) => known.includes(name))) return [];
  const fixture = parseFixture(JSON.stringify(document), file);
  const { config } = (await withConfiguration(fixture, file)).ownAgent ?? {};
  const ofConfig = [...(config?.tools.values() ?? [])].map(({ record }) => record.name);
  const names = [...new Set([...known, ...ofConfig])];
  const served = [...(config?.connectors.keys() ?? [])].map(
    (name) => `${CONNECTOR_PREFIX}${name}__`,
  );
  return wanted.flatMap((name) =>
    names.includes(name) || served.some((prefix) => name.startsWith(prefix))
      ? []
      : [
          `${config === undefined ? 'The record has' : 'Record and configuration have'} no tool ${name}, so \`effects.${name}\` counts nothing. ${didYouMean(name, names)}`.trimEnd(),
        ],
  );
}

/**
 * Whether a captured case passes as it was recorded: the simulation plays it. A case that does not would accuse the code of
 * something that nobody recorded, so it is not written.
 */
import type { Difference } from '../compare.js';
import { evaluate } from '../evaluate.js';
import type { FixtureDocument } from '../format/document.js';
import { withConfiguration } from '../own-agent.js';
import { parseFixture } from '../read-fixture.js';
import { createSimulationEngine } from '../simulation/index.js';

const SEED = 1;

/** Empty: it passes. Errors: `InvalidFixture`. */
export async function differencesOf(
  document: FixtureDocument,
  name: string,
): Promise<readonly Difference[]> {
  const fixture = await withConfiguration(parseFixture(JSON.stringify(document), name), name);
  const engine = createSimulationEngine();
  try {
    for await (const { differences } of evaluate([fixture], { engines: [engine], seed: SEED })) {
      return differences;
    }
    return [];
  } finally {
    await engine.stop();
  }
}

/** Loads the configuration of a case that is about an agent of one. */
import { dirname, resolve } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { loadConfig } from '../worker/load-config.js';
import type { Fixture } from './fixture.js';
import { invalidFixture } from './problems.js';

const NAMES_SHOWN_MAX = 20;

/** `file` is where the case lies: paths in it are from its folder. Errors: `InvalidFixture`, `InvalidConfig`. */
export async function withConfiguration(fixture: Fixture, file: string): Promise<Fixture> {
  const { ownAgent } = fixture;
  if (ownAgent === undefined) return fixture;
  const folder = dirname(resolve(file));
  const { name, configFile } = ownAgent;
  const place = configFile === undefined ? {} : { file: resolve(folder, configFile) };
  const config = await loadConfig({ folder, ...place }).catch((cause: unknown) => {
    if (!(cause instanceof HoldfastError)) throw cause;
    // What mends the configuration is known where it was refused.
    throw invalidFixture(fixture.file, [`config: ${cause.message}`], cause.hint);
  });
  if (config.agents.has(name)) return { ...fixture, ownAgent: { ...ownAgent, config } };
  const known = [...config.agents.keys()].slice(0, NAMES_SHOWN_MAX).join(', ');
  throw invalidFixture(fixture.file, [
    `agent: the configuration has no agent ${JSON.stringify(name)}; it has ${known}`,
  ]);
}

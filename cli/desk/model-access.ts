/** Configuration and vendors of models for commands that ask a model in this process. */
import type { Config } from '../../authoring/index.js';
import type { Provider } from '../../providers/provider.js';
import type { Cli } from '../command.js';
import { variablesWith } from '../environment.js';

/** Also without a file that is named: its endpoints and routes say what a model is. */
export async function configurationOf(
  folder: string,
  file: string | undefined,
): Promise<Config | undefined> {
  const { findConfig, loadConfig } = await import('../../worker/load-config.js');
  if (file !== undefined) return loadConfig({ folder, file });
  return findConfig(folder) === undefined ? undefined : loadConfig({ folder });
}

/** By name, those that the environment has access to. */
export async function providersFor(
  { environment }: Pick<Cli, 'environment'>,
  config: Config | undefined,
): Promise<ReadonlyMap<string, Provider>> {
  const { providersOf } = await import('../../worker/providers.js');
  const { readEnvironment } = await import('../../worker/config.js');
  const place = readEnvironment(variablesWith(environment, {}), environment.folder);
  return providersOf(place, config);
}

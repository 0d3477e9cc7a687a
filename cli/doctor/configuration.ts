/** The configuration, what in it is hardly meant, and the model keys that it needs. */
import { guarded, ok, warning, type Check } from './check.js';
import { checkKeys, type KeysPlace } from './model-keys.js';

const MEND = 'Correct it. Before a rule is taken out, look at what it was to stop.';

export interface ConfigurationPlace extends KeysPlace {
  readonly folder: string;
}

export async function checkConfiguration(where: ConfigurationPlace): Promise<readonly Check[]> {
  const { place, folder } = where;
  const { findConfig, loadConfig } = await import('../../worker/load-config.js');
  const file = place.configFile ?? findConfig(folder);
  if (file === undefined) {
    return [
      warning(
        'configuration',
        `there is none in ${folder}`,
        'A worker needs one: `holdfast init` writes it into a project, `npm create holdfast@latest` a whole one.',
      ),
    ];
  }
  const { newRemarks } = await import('../../authoring/remarks.js');
  const config = await loadConfig({ folder, file });
  const agents = [...config.agents.keys()];
  return [
    ok('configuration', `${file}: ${agents.join(', ')}`),
    ...newRemarks(config).map((one) => warning('definitions', one, MEND)),
    ...(await guarded({ name: 'model key', look: () => checkKeys(config, where) })),
  ];
}

/** Every provider that an agent of a configuration can get to. */
import type { Agent, Config } from '../../authoring/index.js';

const BUILT_IN = ['anthropic', 'openai', 'openai-responses', 'litellm'];

export function providerNames(config: Config): readonly string[] {
  const models = [...config.agents.values()].flatMap(modelsOf);
  return [
    ...BUILT_IN,
    ...config.endpoints.map(({ name }) => name),
    ...config.routes.map(({ provider }) => provider),
    // A model that nothing is known of: the first part of its name.
    ...models.map((name) => name.slice(0, Math.max(0, name.indexOf('/')))),
  ].filter((name, index, all) => name !== '' && all.indexOf(name) === index);
}

function modelsOf({ model, settings, agents, supervisor }: Agent): readonly string[] {
  const { fallbackModel } = settings;
  return [
    model,
    ...(typeof fallbackModel === 'string' ? [fallbackModel] : []),
    ...[...(agents?.values() ?? [])].flatMap((one) => one.model ?? []),
    ...(supervisor === undefined ? [] : [supervisor.agent.model]),
  ];
}

/** What the environment lacks for the models of a configuration's agents, said before the first run fails by it. */
import { howToReach } from '../activities/model/model-provider.js';
import type { Agent, Config } from '../authoring/index.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Provider } from '../providers/provider.js';
import { ANY_MONEY, resolveRouteFor } from '../providers/routes.js';

const AGENTS_SHOWN_MAX = 20;

/** One line for each thing to be set or declared, with the agents that need it; none when all can be reached. */
export function unreachableModels(
  config: Config,
  providers: ReadonlyMap<string, Provider>,
): readonly string[] {
  const agentsByRemedy = new Map<string, Set<string>>();
  for (const agent of config.agents.values()) {
    for (const provider of providersNeededBy(agent, config)) {
      if (providers.has(provider)) continue;
      const remedy = howToReach(provider, config);
      agentsByRemedy.set(remedy, (agentsByRemedy.get(remedy) ?? new Set()).add(agent.name));
    }
  }
  return [...agentsByRemedy].map(
    ([remedy, agents]) => `${listed([...agents])} cannot reach a model. ${remedy}`,
  );
}

function providersNeededBy({ model, settings }: Agent, config: Config): readonly string[] {
  const { fallbackModel = null } = { ...config.defaults.settings, ...settings };
  return [model, ...(fallbackModel === null ? [] : [fallbackModel])].flatMap((name) => {
    const provider = providerNameOf(name, config);
    return provider === undefined ? [] : [provider];
  });
}

/** A model that nobody knows is refused elsewhere, by name. */
function providerNameOf(model: string, config: Config): string | undefined {
  try {
    return resolveRouteFor(model, config, ANY_MONEY).provider;
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

function listed(agents: readonly string[]): string {
  const names = agents.slice(0, AGENTS_SHOWN_MAX).join(', ');
  const more =
    agents.length > AGENTS_SHOWN_MAX ? ` and ${agents.length - AGENTS_SHOWN_MAX} more` : '';
  return `${agents.length === 1 ? 'Agent' : 'Agents'} ${names}${more}`;
}

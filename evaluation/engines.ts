/** Opens the engines of a choice; each is loaded only when it is wanted. */
import type { Engine } from './engine.js';
import type { TemporalEngineOptions } from './temporal/index.js';

export const ENGINE_CHOICES = ['simulation', 'temporal', 'both'] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];

/** Whoever opens engines stops them. */
export async function openEngines(
  choice: EngineChoice,
  options: TemporalEngineOptions,
): Promise<readonly Engine[]> {
  switch (choice) {
    case 'simulation':
      return [await simulation()];
    case 'temporal':
      return [await temporal(options)];
    case 'both':
      return [await simulation(), await temporal(options)];
  }
}

async function simulation(): Promise<Engine> {
  const { createSimulationEngine } = await import('./simulation/index.js');
  return createSimulationEngine();
}

async function temporal(options: TemporalEngineOptions): Promise<Engine> {
  const { createTemporalEngine } = await import('./temporal/index.js');
  return createTemporalEngine(options);
}

/** The in-process engine. */
import type { Engine } from '../engine.js';

export function createSimulationEngine(): Engine {
  return {
    name: 'simulation',
    concurrency: 1,
    run: async () => ({ kind: 'broken', message: 'engine not built' }),
    stop: async () => undefined,
  };
}

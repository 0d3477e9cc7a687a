/** The engine with a real Temporal server. */
import type { Engine } from '../engine.js';

export interface TemporalEngineOptions {
  /** Variables that name a server's program, caches and the like. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a person may want to know while a server is found, built and started. */
  readonly onProgress?: (text: string) => void;
}

export async function createTemporalEngine(_options: TemporalEngineOptions): Promise<Engine> {
  return {
    name: 'temporal',
    concurrency: 1,
    run: async () => ({ kind: 'broken', message: 'engine not built' }),
    stop: async () => undefined,
  };
}

/** What the workers of the tests of quick reads serve, in this process or in one of their own. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, type Config } from '../../../authoring/index.js';
import { AGENT, visitor } from './agents.js';

/** More than a history takes. */
const LARGE_CHARS = 3_000_000;

const HEARTBEATS = { repeatable: 5_000, single: 5_000 } as const;

const optionsSchema = z.object({ serviceUrl: z.string() });

/** Read by the worker process too, which hands its options over as JSON. */
export function config(options: unknown): Config {
  const visit = visitor(optionsSchema.parse(options).serviceUrl);
  const read = defineTool({
    name: 'facts.quick',
    version: '1',
    effect: 'read',
    quick: true,
    concurrencySafe: true,
    input: z.object({ item: z.string() }),
    run: async ({ item }, ctx) => {
      await visit('read', 'facts.quick', ctx);
      return item === 'large' ? 'x'.repeat(LARGE_CHARS) : `the ${item}`;
    },
  });
  const deadly = defineTool({
    name: 'facts.deadly',
    version: '1',
    effect: 'read',
    quick: true,
    input: z.object({ deaths: z.number() }),
    run: async ({ deaths }, ctx) => {
      const { done = 0 } = await visit('effect', 'facts.deadly', ctx);
      if (done > deaths) return 'survived';
      process.kill(process.pid, 'SIGKILL');
      return new Promise<string>(() => undefined);
    },
  });
  const instructions = 'Serve the customer.';
  return defineConfig({
    agents: [
      defineAgent({
        name: AGENT,
        model: 'scripted/model',
        instructions,
        tools: [read, deadly],
        settings: { heartbeatMs: HEARTBEATS },
      }),
    ],
  });
}

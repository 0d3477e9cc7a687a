/** Agents that use servers of MCP; read by the worker process too, which hands its options over as JSON. */
import { z } from 'zod';
import { defineAgent, defineConfig, type Config } from '../../../authoring/index.js';

const optionsSchema = z.object({
  url: z.string(),
  legacyUrl: z.string().optional(),
  olderUrl: z.string().optional(),
});

/** In no event, error, payload or line of a log. */
export const SECRET = 'header-that-nobody-may-see';

export function config(options: unknown): Config {
  const { url, legacyUrl, olderUrl } = optionsSchema.parse(options);
  const agent = { model: 'scripted/model', instructions: 'Serve the customer.' };
  return defineConfig({
    agents: [
      defineAgent({ ...agent, name: 'served', mcp: ['crm'] }),
      defineAgent({ ...agent, name: 'narrow', mcp: ['mcp__crm__get_*'] }),
      defineAgent({ ...agent, name: 'lonely', mcp: ['crm', 'down'] }),
      defineAgent({ ...agent, name: 'needy', mcp: ['needed'] }),
      defineAgent({
        ...agent,
        name: 'batched',
        mcp: ['crm'],
        settings: { toolExecution: 'batched' },
      }),
      defineAgent({ ...agent, name: 'legacy', mcp: ['old'] }),
      defineAgent({ ...agent, name: 'older', mcp: ['older'] }),
    ],
    mcp: {
      crm: {
        url,
        headers: { authorization: `Bearer ${SECRET}` },
        trust: 'trusted',
        timeoutMs: 5_000,
        tools: { deny: ['drop_*'], effects: { note: 'none' } },
      },
      down: { url: `http://127.0.0.1:1/mcp?key=${SECRET}` },
      needed: { url: 'http://127.0.0.1:1/mcp', required: true },
      old: { url: legacyUrl ?? url, protocol: 'legacy', timeoutMs: 20_000 },
      older: { url: olderUrl ?? url, transport: 'sse', protocol: 'legacy', timeoutMs: 20_000 },
    },
  });
}

/** An agent whose tools come from a server of the Model Context Protocol. */
import { defineAgent, defineConfig, usd, type Config } from '../../index.js';
import { script } from './script.js';

const vendor = process.env['ANTHROPIC_API_KEY'] || process.env['NODE_ENV'] === 'production';

const contacts = defineAgent({
  name: 'contacts',
  model: vendor ? 'anthropic/claude-sonnet-5-5' : 'scripted/contacts',
  instructions: 'Find contacts that are the same person, and merge them into the older one.',
  mcp: ['crm'],
  budget: { maxCostMicroUsd: usd(0.5), maxTurns: 8 },
});

/** The server is a program of Node in a file. */
export function configOf(server: string): Config {
  return defineConfig({
    agents: [contacts],
    scripted: script,
    mcp: {
      crm: {
        command: process.execPath,
        args: [server],
        env: {},
        // Without a word of yours each tool is `unknown`: asked about, one attempt. Trust makes reads of what the server calls so.
        trust: 'trusted',
        tools: { effects: { merge_contacts: 'delete' } },
      },
    },
  });
}

/** What a Holdfast worker of this example serves: `npx holdfast worker` loads it. */
import { defineConfig } from '../../index.js';
import { investigatorAgent, refundAgent } from './agents.js';
import { shopAt } from './shop/client.js';
import { refundTools } from './tools.js';

const tools = refundTools(shopAt(process.env['SHOP_URL'] ?? 'http://127.0.0.1:4104'));

export const config = defineConfig({ agents: [investigatorAgent(tools), refundAgent(tools)] });

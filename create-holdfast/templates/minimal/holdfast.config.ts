import { defineConfig } from 'holdfast';
import { orders } from './src/agent.js';
import { script } from './src/script.js';

// `scripted` answers for the models `scripted/…`, so that everything runs without a key.
export const config = defineConfig({ agents: [orders], scripted: script });

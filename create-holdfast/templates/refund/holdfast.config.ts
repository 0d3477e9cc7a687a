import { defineConfig } from 'holdfast';
import { refund } from './src/agent.js';
import { script } from './src/script.js';

// `scripted` answers for the models `scripted/…`, so that everything runs without a key.
export const config = defineConfig({ agents: [refund], scripted: script });

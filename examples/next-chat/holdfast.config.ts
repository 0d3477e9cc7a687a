import { defineConfig } from 'holdfast';
import { script, support } from './src/agent.js';

// `scripted` answers for the models `scripted/…`, so that everything runs without a key.
export const config = defineConfig({ agents: [support], scripted: script });

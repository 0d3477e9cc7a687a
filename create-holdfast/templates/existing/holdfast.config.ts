import { defineConfig } from 'holdfast';
import { triage } from './src/agent.js';
import { script } from './src/script.js';

// `scripted` answers for the models `scripted/…`, so that everything runs without a key.
export const config = defineConfig({ agents: [triage], scripted: script });

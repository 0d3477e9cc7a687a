/** What a worker of this example serves. */
import { defineConfig } from '../../index.js';
import { research } from './research.js';
import { script } from './script.js';

export const config = defineConfig({ agents: [research], scripted: script });

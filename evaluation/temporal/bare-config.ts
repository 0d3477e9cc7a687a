/** The configuration of a worker whose cases bring their own. */
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { AGENT } from '../scripted/config.js';

export const BARE_CONFIG = defineConfig({
  agents: [defineAgent({ name: AGENT, model: 'scripted/model', instructions: 'Play a case.' })],
});

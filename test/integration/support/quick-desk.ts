/** The agents of these tests with reads that are tried within the tasks that decide. */
import type { Config } from '../../../authoring/index.js';
import { configWith } from './agents.js';

/** Read by the worker process too, which hands its options over as JSON. */
export function config(options: unknown): Config {
  return configWith(options, { quickReads: true });
}

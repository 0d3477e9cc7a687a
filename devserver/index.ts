/** Finds, builds, tunes and starts the Temporal server that Holdfast runs on. */
export { leftBehind, runningServer } from './data-folder.js';
export { cacheFolder } from './environment.js';
export type { Environment } from './environment.js';
export { findServer } from './find-server.js';
export type { FindServerOptions, FoundServer } from './find-server.js';
export {
  CLI_VERSION,
  NAMESPACE,
  NAMESPACE_RETENTION,
  SEARCH_ATTRIBUTES,
  SERVER_VERSION,
} from './pins.js';
export type { OnProgress, Progress } from './progress.js';
export { startServer } from './start-server.js';
export type { ServerHandle, StartServerOptions } from './start-server.js';
export { tuningFlags, tuningYaml } from './tuning.js';

/** Finds, builds, tunes and starts the Temporal server that Holdfast runs on. */
export { leftBehind, runningServer } from './data-folder.js';
export { cacheFolder, isExecutable, onPath } from './environment.js';
export type { Environment } from './environment.js';
export { findServer } from './find-server.js';
export type { FindServerOptions, FoundServer } from './find-server.js';
export {
  CLI_VERSION,
  NAMESPACE,
  NAMESPACE_RETENTION,
  SEARCH_ATTRIBUTES,
  SERVER_VERSION,
  TIME_SKIPPING_VARIABLE,
} from './pins.js';
export { holderOf, holderText } from './port-holder.js';
export { LOOPBACK, freePort, isPortFree, isPortTaken } from './ports.js';
export { lastLines } from './run-command.js';
export { spawnServer } from './server-process.js';
export type { ServerProcess } from './server-process.js';
export type { OnProgress, Progress } from './progress.js';
export { startServer } from './start-server.js';
export type { ServerHandle, StartServerOptions } from './start-server.js';
export { tuningFlags, tuningYaml } from './tuning.js';

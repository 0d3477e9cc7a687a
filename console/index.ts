/** The approval desk: an HTTP API, and the page over it. */
export { startBundleDesk } from './bundle-desk.js';
export { startConsole } from './console.js';
export { isLocalToken, newLocalToken } from './identity/local.js';
export type { KnownTool, Forks, ForkWanted, Startable } from './desk.js';
export type { ConsoleOptions } from './desk-app.js';

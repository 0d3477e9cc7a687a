/** The approval desk: an HTTP API, and the page over it. */
export { startBundleDesk } from './bundle-desk.js';
export { startConsole } from './console.js';
export { isLocalToken, newLocalToken } from './identity/local.js';
export type { KnownTool, Forks, ForkWanted, Startable } from './desk.js';
export type { ConsoleOptions } from './desk-app.js';

/** For those who load all that a console may need before it serves. */
export const CONSOLE_MODULE = __filename;

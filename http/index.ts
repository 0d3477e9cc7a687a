/** Public entry `holdfast/http`: agents behind web front ends. */
export { chatHandler, type ChatHandler } from './handler.js';
export { nodeListener } from './node.js';
export type { Authorized, ChatActor, ChatHandlerOptions, ChatLimits } from './options.js';

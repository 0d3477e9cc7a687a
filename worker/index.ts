/** Public entry `holdfast/worker`: run agents in a process of your own. */
export { readEnvironment, type Environment } from './config.js';
export { createAnthropicProvider } from '../providers/anthropic.js';
export { createOpenAiChatProvider } from '../providers/openai-chat.js';
export { createOpenAiResponsesProvider } from '../providers/openai-responses.js';
export {
  modelFailure,
  type ModelErrorCode,
  type ModelFailureDetails,
  type ModelProgress,
  type ModelReply,
  type ModelRequest,
  type Provider,
} from '../providers/provider.js';
export { findConfig, loadConfig } from './load-config.js';
export { providersOf } from './providers.js';
export { UndecodablePayload } from './payload-codecs.js';
export { runWorkerProcess, type WorkerProcessOptions } from './run-worker.js';
export type { WorkerReadiness } from '../connection/readiness.js';
export { startWorker, type RunningWorker, type WorkerSettings } from './worker.js';

/** Public entry `holdfast/testing`: a real server, workers that can be killed, a scripted model. */
export { startTestServer, type TestServer, type TestServerOptions } from './temporal-server.js';
export {
  startWorkerProcess,
  type WorkerEntrySettings,
  type WorkerProcess,
} from './worker-process.js';
export { startScriptedModel, type ScriptedModel } from '../providers/scripted/server.js';
export {
  scriptOf,
  scriptOfRuns,
  type Script,
  type ScriptedReply,
  type ScriptedAnswer,
} from '../providers/scripted/script.js';
export { createAnthropicProvider } from '../providers/anthropic.js';
export { createOpenAiChatProvider } from '../providers/openai-chat.js';
export { createOpenAiResponsesProvider } from '../providers/openai-responses.js';
export {
  providerChecks,
  readChatBody,
  readMessagesBody,
  readResponsesBody,
  type ProviderCheck,
  type ProviderUnderTest,
  type StallTimes,
  type WireEntry,
} from './conformance/index.js';
export type { ModelProgress, ModelReply, ModelRequest, Provider } from '../providers/provider.js';
export { replayRuns, type ReplayFailures, type ReplayPlace } from './replay.js';

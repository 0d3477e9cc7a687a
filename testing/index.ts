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
export { expectReplays, replayRuns, type ReplayFailures, type ReplayPlace } from './replay.js';
export { type Bundle } from '../replay/bundle.js';
export { readBundle } from '../replay/read-bundle.js';
export {
  replayRun,
  type ReplayableRun,
  type ReplayDifference,
  type ReplayReport,
} from '../replay/strict-replay.js';

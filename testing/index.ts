/**
 * Public entry `holdfast/testing`: a real server, workers that can be killed at a named boundary, frozen or
 * cut off, a scripted model, replay. All faults are seeded or exact, so that a failure can be repeated.
 */
export { startTestServer, type TestServer, type TestServerOptions } from './temporal-server.js';
export {
  startWorkerProcess,
  type StandingStill,
  type WorkerEntrySettings,
  type WorkerProcess,
} from './worker-process.js';
export {
  BOUNDARY_MEANINGS,
  CRASH_BOUNDARIES,
  type CompletionFault,
  type CrashBoundary,
  type CrashPoint,
} from './crash/boundary.js';
export {
  drawBelow,
  planCrash,
  seededRandom,
  type CrashChoice,
  type CrashPlan,
  type PassageCounts,
  type Random,
} from './crash/plan.js';
export { startTcpProxy, type TcpProxy, type TcpProxyOptions } from './tcp-proxy.js';
export {
  simulateGoal,
  type AskedEvent,
  type GoalWorld,
  type SimulatedGoal,
  type SimulatedGoalOptions,
  type SimulatedPerson,
} from './simulate-goal.js';
export * from './agent/index.js';
export {
  cassette,
  openCassette,
  type Cassette,
  type CassetteOptions,
  type OpenCassette,
} from './cassette/cassette.js';
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
export { expectReplays, replayRuns, type ReplayFailures, type ReplayPlace } from './replay.js';
export { type Bundle } from '../replay/bundle.js';
export { readBundle } from '../replay/read-bundle.js';
export {
  replayRun,
  type ReplayableRun,
  type ReplayDifference,
  type ReplayReport,
} from '../replay/strict-replay.js';

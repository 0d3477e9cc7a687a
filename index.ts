/** Public entry `holdfast`: writing agents and tools, and reaching their runs. */
export {
  askPerson,
  days,
  defineAgent,
  defineConfig,
  defineHook,
  defineHostedTool,
  defineTool,
  escalate,
  hours,
  minutes,
  seconds,
  ToolError,
  usd,
  type Agent,
  type AgentDefinition,
  type ApprovalDeclaration,
  type Config,
  type ConfigDefinition,
  type Endpoint,
  type Hook,
  type HookContext,
  type HookDefinition,
  type HookInputs,
  type HookReturns,
  type HostedToolDefinition,
  type PolicyDeclaration,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from './authoring/index.js';
export {
  connect,
  LoopError,
  newRunId,
  query,
  runOrThrow,
  transcriptMarkdown,
  type CanUseTool,
  type FollowQueryOptions,
  type FollowQuery,
  type OnQuestion,
  type PermissionContext,
  type PermissionResult,
  type Query,
  type QueryOptions,
  type QueryParameters,
  type QueryRequest,
  type QuestionReply,
  type StartQuery,
  type TotalUsage,
  type UserPrompt,
  type Via,
  type Allowance,
  type Answer,
  type ConnectOptions,
  type Decider,
  type Delivery,
  type EventsOptions,
  type Execution,
  type FoundAsk,
  type HoldfastClient,
  type NamespaceFacts,
  type Outcome,
  type ReadingStore,
  type Replacement,
  type RunHandle,
  type RunSummary,
  type SessionOptions,
  type StartOptions,
  type StreamOptions,
  type StuckRun,
  type Transcript,
  type TranscriptMessage,
  type Wait,
  type WaitOptions,
} from './client/index.js';
export { openStore, type Store, type StoreOptions } from './store/store.js';
export { DIALECTS, stopReasonAs, type Dialect } from './core/dialects.js';
export { HoldfastError, type ErrorCode, type ErrorContext } from './core/errors.js';
export type { Decision, DecisionKind, RejectionReason, Verdict } from './core/ask/ask.js';
export type { GrantRequest } from './core/ask/grants.js';
export type { AskView, EventType, RunEvent } from './core/event.js';
export type { Budget, Limit } from './core/budget-fields.js';
export type { Json, StoredText } from './core/json.js';
export type { ModelRoute, Prices, UnknownModels, Usage } from './core/model.js';
export type { PermissionMode } from './core/permission-mode.js';
export type { Counters, RunResult, RunStatus, StopReason } from './core/result.js';
export type * from './core/sdk/message.js';
export type { ModelDelta, StreamChunk } from './core/stream.js';
export type { Settings } from './core/settings.js';
export type { Condition } from './core/condition.js';
export type { HookPoint, HookReport } from './core/hooks/hook.js';
export type { BudgetOverrides, Criterion, Evidence, SettingsOverrides, Task } from './core/task.js';
export type { OpenAsk, RunView, RunViewStatus } from './core/view.js';

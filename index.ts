/** Public entry `holdfast`: writing agents and tools, and reaching their runs. */
export {
  askPerson,
  codingTools,
  days,
  agentTool,
  defineAgent,
  defineConfig,
  defineGoal,
  defineHook,
  defineHostedTool,
  defineShell,
  defineTool,
  editFileTool,
  escalate,
  messageAgent,
  goalFromText,
  hours,
  minutes,
  readFileTool,
  searchTool,
  seconds,
  shellTool,
  ToolError,
  usd,
  writeFileTool,
  type Agent,
  type AgentDefinition,
  type HandoffDeclaration,
  type AgentToolDefinition,
  type ApprovalDeclaration,
  type CardDeclaration,
  type CheckDeclaration,
  type CommandResult,
  type Config,
  type ConfigDefinition,
  type ConnectionDefinition,
  type DefinedGoal,
  type Endpoint,
  type FolderChange,
  type FolderView,
  type GoalDeclaration,
  type Hook,
  type HookContext,
  type HookDefinition,
  type HookInputs,
  type HookReturns,
  type HostedToolDefinition,
  type InputDeclaration,
  type InputOf,
  type JsonSchema,
  type ModelScript,
  type NormalGoal,
  type PolicyDeclaration,
  type StartedAgent,
  type StartedAgents,
  type SubAgentDefinition,
  type Sandbox,
  type ScriptedQuestion,
  type ScriptedWords,
  type SandboxedCommand,
  type ShellDefinition,
  type TaskGate,
  type TaskGateContext,
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
  type GoalBrief,
  type GoalHandle,
  type GoalOutcomeNow,
  type GoalRecord,
  type GoalResult,
  type GoalStartOptions,
  type GoalSummary,
  type GoalsQuery,
  type HoldfastClient,
  type NamespaceFacts,
  type Outcome,
  type ReadingStore,
  type Replacement,
  type RestartOptions,
  type RunHandle,
  type Overlap,
  type RunSummary,
  type ScheduleHandle,
  type ScheduleOptions,
  type ScheduleSummary,
  type ScheduleView,
  type SessionOptions,
  type Span,
  type Speaker,
  type StartOptions,
  type StreamOptions,
  type StuckRun,
  type Ticks,
  type Told,
  type Transcript,
  type TranscriptMessage,
  type Wait,
  type WaitOptions,
} from './client/index.js';
export type { Credentials, TlsMaterial } from './connection/index.js';
export {
  findIsolation,
  type Isolation,
  type IsolationFound,
  type Room,
} from './sandbox/isolation.js';
export type { SandboxLimits } from './sandbox/limits.js';
export type { FolderEntries, FolderEntry, FolderLimits } from './pure/work-folder/entry.js';
export { parseHosts, type NamedHost } from './sandbox/proxy.js';
export { openStore, type Store, type StoreOptions } from './store/store.js';
export { HoldfastError, type ErrorCode, type ErrorContext } from './core/state/errors.js';
export type { Decided, Decision, RejectionReason, Verdict } from './core/state/ask.js';
export type { DecisionKind } from './core/state/ask-kinds.js';
export type { GrantRequest } from './core/state/grant.js';
export type { EventType, RunEvent } from './core/state/event.js';
export type { AskView } from './core/state/ask-view.js';
export type { Budget, Limit } from './core/state/budget-fields.js';
export type { Json, StoredText } from './core/json/json.js';
export type { ModelRoute, Prices, UnknownModels, Usage } from './core/state/model.js';
export type { PermissionMode } from './core/state/permission-mode.js';
export type { Counters, RunResult, RunStatus, StopReason } from './core/state/result.js';
export type * from './pure/sdk/message.js';
export type { ModelDelta, StreamChunk } from './pure/stream.js';
export type { Settings } from './core/state/settings.js';
export type {
  Done,
  DoneCondition,
  GoalApproval,
  GoalBudget,
  GoalDefinition,
  Pace,
  ReviewEvery,
  StopRules,
} from './core/state/goal/definition.js';
export type { GoalMemory, Plan, PlanStep, ReviewAnswers } from './core/state/goal/memory.js';
export type { GoalView } from './core/state/goal/view.js';
export type { Condition } from './core/json/condition.js';
export type { HookPoint, HookReport } from './core/state/hook.js';
export type {
  BudgetOverrides,
  Criterion,
  Evidence,
  SettingsOverrides,
  Task,
} from './core/state/task.js';
export type { OpenAsk, RunView, RunViewStatus } from './core/state/view.js';

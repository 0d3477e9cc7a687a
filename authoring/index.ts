/** What authors of agents import, re-exported by the package `holdfast`. */
export type { BudgetLimits } from './budget-in-usd.js';
export { defineAgent, type Agent, type AgentDefinition } from './define-agent.js';
export { agentTool, type AgentToolDefinition } from './agent-tool.js';
export type { StartedAgent, StartedAgents } from '../core/state/started-agent.js';
export type { SubAgentDefinition } from './sub-agents.js';
export { defineConfig, isConfig, type Config, type ConfigDefinition } from './define-config.js';
export {
  defineGoal,
  type CheckDeclaration,
  type DefinedGoal,
  type GoalBudgetDeclaration,
  type GoalDeclaration,
} from './goal/define-goal.js';
export { goalFromText } from './goal/goal-file.js';
export { normalGoal, type NormalGoal } from './goal/normal-goal.js';
export type { ConnectionDefinition, ConnectionSettings } from './connection.js';
export type {
  ConfiguredModel,
  LanguageModelDefinition,
  LanguageModelEntry,
  RetiredModels,
} from './language-models.js';
export type { LanguageModel } from '../pure/language-model.js';
export type { Endpoint } from './models.js';
export type { EndpointDefinition, EndpointPreset, PresetEndpoint } from './endpoint-presets.js';
export type { ModelScript, ScriptedQuestion, ScriptedWords } from './scripted.js';
export {
  defineHook,
  hookMatches,
  hookNames,
  type Hook,
  type HookContext,
  type HookDefinition,
  type HookInputs,
  type HookReturns,
} from './hook.js';
export type { TaskGate, TaskGateContext } from './task-gate.js';
export { defineTool, type ToolDefinition } from './define-tool.js';
export {
  fromAiSdkTool,
  type AiSdkTool,
  type AiSdkToolSettings,
} from './ai-sdk/from-ai-sdk-tool.js';
export { fromOpenAPI, type OpenApiSettings } from './openapi/from-openapi.js';
export type { OperationSettings } from './openapi/operation-settings.js';
export type { HeaderValue } from './openapi/own-headers.js';
export type { InputDeclaration, InputOf, JsonSchema } from './schema-forms.js';
export type { StandardSchema } from './standard-schema.js';
export { defineHostedTool, type HostedToolDefinition } from './hosted-tool.js';
export {
  codingTools,
  defineShell,
  editFileTool,
  readFileTool,
  searchTool,
  shellTool,
  writeFileTool,
  type CommandResult,
  type FolderChange,
  type FolderView,
  type Sandbox,
  type SandboxedCommand,
  type ShellDefinition,
} from './sandbox/index.js';
export { askPerson } from './ask-person.js';
export { escalate } from './escalate.js';
export { messageAgent } from './message-agent.js';
export type { HandoffDeclaration } from './handoff.js';
export type { CardDeclaration } from './card.js';
export type { ApprovalDeclaration } from './approval.js';
export type { PolicyDeclaration } from './policy.js';
export type { Tool, ToolContext } from './tool.js';
export { queuesOf, sandboxQueueOf, sandboxTools } from './tool-queues.js';
export { parseTuning, type WorkerTuning } from './worker-tuning.js';
export type { RequestOptions } from './request-options.js';
export { ToolError } from './tool-error.js';
export { withFiles, type ResultWithFiles } from './tool-files.js';
export { days, hours, minutes, seconds, usd } from './units.js';
export {
  isLoopback,
  parseConsole,
  type ConsoleDefinition,
  type ConsoleSettings,
  type JwtSettings,
  type WebhookSettings,
} from './console.js';
export type { AgentDecisions } from './console-starts.js';

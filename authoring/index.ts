/** What authors of agents import, re-exported by the package `holdfast`. */
export { defineAgent, type Agent, type AgentDefinition } from './define-agent.js';
export { defineConfig, isConfig, type Config, type ConfigDefinition } from './define-config.js';
export type { Endpoint } from './models.js';
export {
  defineHook,
  hookNames,
  type Hook,
  type HookContext,
  type HookDefinition,
  type HookInputs,
  type HookReturns,
} from './hook.js';
export { defineTool, type ToolDefinition } from './define-tool.js';
export { defineHostedTool, type HostedToolDefinition } from './hosted-tool.js';
export { askPerson } from './ask-person.js';
export { escalate } from './escalate.js';
export type { CardDeclaration } from './card.js';
export type { ApprovalDeclaration } from './approval.js';
export type { PolicyDeclaration } from './policy.js';
export type { Tool, ToolContext } from './tool.js';
export { ToolError } from './tool-error.js';
export { days, hours, minutes, seconds, usd } from './units.js';
export {
  isLoopback,
  parseConsole,
  type ConsoleDefinition,
  type ConsoleSettings,
  type JwtSettings,
  type WebhookSettings,
} from './console.js';

/**
 * A case as the engines get it: the written fixture with every default of the format applied, its short
 * forms spelled out and its tools put together. Defaults of the runtime itself are not repeated here: what
 * is absent from `budget` and `settings` is the core's to decide.
 */
import type { WrittenFile } from './format/files.js';
import type { Config, HandoffDeclaration } from '../authoring/index.js';
import type { Json } from '../core/json/json.js';
import type { HookPoint } from '../core/state/hook.js';
import type { Usage } from '../core/state/model.js';
import type { WatchedEvent } from '../core/state/supervision.js';
import type { PolicyCondition } from '../core/state/policy.js';
import type {
  AnswerRule,
  EscalationRule,
  Idempotency,
  OnLost,
  ToolEffect,
  ToolKind,
} from '../core/state/tool.js';
import type { FixtureDocument } from './format/document.js';
import type { EventPattern } from './format/during.js';
import type { Expected } from './format/expected.js';
import type { CaseGoal, GoalAction } from './goal-case.js';
import type { CaseServer, ServedTool, ServerChange } from './server-case.js';
import type { Script, ScriptedAnswer, ScriptedResult } from './script.js';

export type { Expected, EventPattern, ScriptedResult };

/** Name of the agent that a case is about. */
export const CASE_AGENT = 'case';

export interface Fixture {
  readonly caseId: string;
  readonly title?: string;
  /** The case is about an agent of a configuration. */
  readonly ownAgent?: OwnAgent;
  /** It was made of a recorded run. */
  readonly isCaptured?: true;
  /** The system prompt of its agent; absent: that of every case. */
  readonly instructions?: string;
  /** Where it was read; part of messages to people. */
  readonly file: string;
  readonly task: CaseTask;
  /** The limits that the case or its profile gives. */
  readonly budget: CaseBudget;
  /** The settings that the case or its profile gives; `pricing` always. */
  readonly settings: CaseSettings;
  readonly policy: readonly CasePolicyRule[];
  /** Every tool that anything in the case names and that exists, by name. */
  readonly tools: ReadonlyMap<string, CaseTool>;
  /** Names of the tools in the agent's manifest, sorted. */
  readonly manifest: readonly string[];
  /** Servers of connectors, by name. */
  readonly servers: ReadonlyMap<string, CaseServer>;
  readonly agents: ReadonlyMap<string, CaseAgent>;
  /** Whom the agent of the case may start; absent: everybody to whom nobody hands over. */
  readonly subAgents?: readonly string[];
  /** To whom the agent of the case may hand its run over. */
  readonly handoffTo?: readonly HandoffDeclaration[];
  /** What single runs below that of the case say, by their places. */
  readonly runs: ReadonlyMap<string, Script>;
  /** Who looks at the run of the case. */
  readonly supervisor?: CaseSupervisor;
  readonly sessions: readonly CaseSession[];
  readonly model: Script;
  /** Scripted summaries; the last one repeats. Empty: every summary succeeds. */
  readonly compaction: readonly ScriptedSummary[];
  /** Registered hooks by name; a registered hook may have no outcomes. */
  readonly hooks: CaseHooks;
  /** Names of hooks, and the calls that they are asked about; absent: the names of their points, and all calls. */
  readonly namedHooks?: CaseHookNames;
  readonly during: readonly Moment[];
  /** Present: the case is one of a goal, whose objective is the task's goal. */
  readonly goal?: CaseGoal;
  readonly expected: Expected;
  /** Time is moved by the case: only a virtual clock can play it. */
  readonly needsVirtualTime: boolean;
}

export interface OwnAgent {
  readonly name: string;
  /** As the case names it, from its own folder; absent: the configuration of that folder. */
  readonly configFile?: string;
  /** Its tools do what they do; else the case answers for them. */
  readonly live: boolean;
  /** Absent until the case is read from its file. */
  readonly config?: Config;
}

export interface CaseTask {
  readonly goal: string;
  readonly taskId: string;
  readonly traceId?: string;
  readonly caller?: string;
  readonly constraints?: Json;
  readonly allowedActions?: readonly string[];
  readonly forbiddenActions?: readonly string[];
  readonly requiredEvidence?: readonly CaseEvidence[];
  readonly successCriteria?: Json;
  readonly stopReasons?: readonly string[];
  readonly outputSchema?: JsonObject;
  readonly sessionId?: string;
  readonly resume?: string;
  readonly continue?: boolean;
  readonly denied?: string;
  readonly attachments?: readonly WrittenFile[];
}

export interface CaseEvidence {
  readonly id: string;
  readonly satisfiedBy: string;
  readonly predicate?: PolicyCondition;
}

export type JsonObject = { readonly [key: string]: Json };
export type CaseBudget = Readonly<NonNullable<FixtureDocument['budget']>>;
export type CaseHooks = Readonly<NonNullable<FixtureDocument['hooks']>>;
export type CaseHookNames = Readonly<NonNullable<FixtureDocument['namedHooks']>>;

export interface CasePrice {
  /** USD per million tokens. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

type WrittenSettings = NonNullable<FixtureDocument['settings']>;

export type CaseSettings = Readonly<Omit<WrittenSettings, 'pricing' | 'unknownModelPricing'>> & {
  /** By model name; `*` is any other. */
  readonly pricing: ReadonlyMap<string, CasePrice>;
  readonly unknownModelPricing?: 'fail' | 'zero' | CasePrice;
};

export interface CasePolicyRule {
  readonly tool: string;
  readonly decision: 'allow' | 'deny' | 'ask' | 'sandbox';
  readonly reason?: string;
  readonly terminal?: boolean;
  readonly when?: PolicyCondition;
}

export interface CaseTool {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly effect: ToolEffect;
  readonly idempotency: Idempotency;
  /** Absent: a person is asked, because scripted tools have no probe. */
  readonly onLost?: OnLost;
  readonly concurrencySafe: boolean;
  readonly quick?: boolean;
  /** Absent: by the effect. */
  readonly approval?: CaseApproval;
  readonly sandbox: 'none' | 'optional' | 'required';
  readonly kind: ToolKind;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject | boolean;
  readonly outputSchema?: JsonObject | boolean;
  readonly timeoutMs: number;
  readonly maxCostMicroUsd?: number;
  /** With kind 'human_input': whose answers count; absent: anybody's. */
  readonly answeredBy?: AnswerRule;
  /** One per attempt, in order; `resultOf` says what follows the last. */
  readonly results: readonly ScriptedResult[];
  /** Its code is that of the runtime: the case says nothing of it. */
  readonly builtIn?: true;
  /** Present: a server of the case has it, and says this of it. */
  readonly served?: ServedTool;
  /** Present: the tool answers from a record, and refuses what the record does not have. */
  readonly recorded?: readonly RecordedCall[];
  /** Present: its calls start this agent of the case. */
  readonly starts?: string;
  /** What such a call makes of its arguments; else the task is the arguments as JSON. */
  readonly tasks?: readonly { readonly input: Json; readonly task: string }[];
}

/** One call of a record; calls with the same input answer in their order. */
export interface RecordedCall {
  readonly input: Json;
  /** Place of the run whose calls it answers; absent: any. */
  readonly run?: string;
  /** One per attempt; the last one repeats. */
  readonly results: readonly ScriptedResult[];
}

export type CaseApproval =
  | 'never'
  | 'by_policy'
  | 'always'
  | {
      readonly roles?: readonly string[];
      readonly quorum?: number;
      readonly expiresInMs?: number | 'unlimited';
      readonly onExpiry?: 'reject' | 'stop';
      readonly escalate?: EscalationRule;
    };

export interface CaseAgent {
  readonly description?: string;
  /** Present: an agent of its own, of which the case says all; absent: what it lacks it has from the agent of the case. */
  readonly instructions?: string;
  /** Absent: the run that it works in has a script of its own. */
  readonly model?: Script;
  readonly tools?: readonly string[];
  readonly budget: CaseBudget;
  /** Of an agent of its own. */
  readonly settings?: CaseSettings;
  readonly policy?: readonly CasePolicyRule[];
  readonly hooks?: readonly HookPoint[];
  readonly outputSchema?: JsonObject;
  readonly parallel?: boolean;
  readonly handoffTo?: readonly HandoffDeclaration[];
  readonly subAgents?: readonly string[];
  /** The start of the run brings it along. */
  readonly start?: true;
}

export interface CaseSupervisor {
  /** Of its agent; absent: `supervisor`. */
  readonly name?: string;
  readonly every?: { readonly turns: number };
  readonly on?: readonly WatchedEvent[];
  readonly roles?: readonly string[];
  /** One for each look; the last one repeats. */
  readonly says: readonly ScriptedLook[];
}

export type ScriptedLook =
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'answer'; readonly text: string; readonly usage: Usage };

export interface CaseSession {
  readonly id: string;
  readonly messages: readonly SessionMessage[];
  readonly state?: JsonObject;
  readonly reactiveCompacted: boolean;
}

export type SessionMessage =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'assistant'; readonly reply: ScriptedAnswer }
  | { readonly kind: 'results'; readonly results: ReadonlyMap<string, ScriptedResult> };

export type ScriptedSummary =
  | { readonly kind: 'error'; readonly message: string }
  | {
      readonly kind: 'summary';
      readonly text?: string;
      /** Size of the context afterwards; absent: a tenth. */
      readonly tokens?: number;
      readonly usage: Usage;
    };

/** What happens from outside, and when; `times` says how often it may. */
export interface Moment {
  readonly on: Pattern;
  readonly actions: readonly Action[];
  readonly times: number;
}

export type Pattern =
  | { readonly kind: 'start' }
  | ({
      readonly kind: 'modelCall';
      readonly number: number;
      readonly at: 'before' | 'streaming' | 'after';
    } & Narrowing)
  | { readonly kind: 'event'; readonly pattern: EventPattern & Narrowing };

/** One run below that of the case, one cycle of a goal, or the cycles of one agent. */
export interface Narrowing {
  readonly run?: string;
  readonly cycle?: number;
  readonly agent?: string;
}

export type Action =
  | GoalAction
  | ServerChange
  | ResolveApproval
  /** Without a call: to the question of the supervisor. */
  | {
      readonly kind: 'provideInput';
      readonly call?: string;
      readonly run?: string;
      readonly value: Json;
    }
  | {
      readonly kind: 'userMessage';
      readonly text: string;
      readonly files?: readonly WrittenFile[];
    }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'close' }
  | { readonly kind: 'setModel'; readonly model: string }
  | {
      readonly kind: 'setPermissionMode';
      readonly mode: 'default' | 'acceptEdits' | 'plan' | 'dontAsk' | 'bypassPermissions';
    }
  | { readonly kind: 'setMaxThinkingTokens'; readonly tokens: number | null }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'restartWorker'; readonly downMs?: number }
  | { readonly kind: 'killWorker' }
  | { readonly kind: 'continueAsNew' };

export interface ResolveApproval extends Narrowing {
  readonly kind: 'resolveApproval';
  /** The question is the goal's own. */
  readonly goal?: true;
  /** The call whose question is answered; absent: the one that is open. */
  readonly call?: string;
  readonly approvalId?: string;
  readonly decision:
    'approve' | 'reject' | 'modify' | 'replace' | 'happened' | 'not_happened' | 'stop';
  readonly args?: JsonObject;
  readonly value?: Json;
  readonly amount?: number;
  readonly tool?: string;
  readonly reason?: string;
  readonly grant?: JsonObject;
  readonly interrupt?: true;
  readonly by?: string;
  readonly roles?: readonly string[];
  /** Arguments whose hash is sent in place of the right one. */
  readonly argsHashOf?: JsonObject;
}

/** The result of a tool's k-th attempt, from 0; undefined when the tool echoes its input every time. */
export function resultOf(
  tool: Pick<CaseTool, 'results'>,
  attempt: number,
): ScriptedResult | undefined {
  const { results } = tool;
  return results[attempt] ?? results.findLast((result) => result.kind === 'ok') ?? results.at(-1);
}

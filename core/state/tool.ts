/**
 * The tool record as it is frozen into a run: plain data. The tool's code lives in the
 * worker and is found by `name@version`.
 * Invariants: `retryFor` and `claimsFor` are the only places that derive behaviour from effect and
 * idempotency (C54).
 */
import type { ToolCard } from './tool-card.js';

export const EFFECTS = [
  'none',
  'read',
  'write',
  'send',
  'delete',
  'financial',
  'permission',
  'execute',
  'commit',
  'unknown',
] as const;
export type ToolEffect = (typeof EFFECTS)[number];

export const IDEMPOTENCIES = ['natural', 'keyed', 'none', 'unknown'] as const;
export type Idempotency = (typeof IDEMPOTENCIES)[number];

/** What follows when nobody heard how a call ended (G117). */
export const ON_LOST = ['probe', 'repeat_with_key', 'ask'] as const;
export type OnLost = (typeof ON_LOST)[number];

export type SideEffect = 'none' | 'read_only' | 'mutating';

/** No run does anything with 'mcp' yet: `defineTool` refuses it. */
export type ToolKind = 'tool' | 'human_input' | 'subagent' | 'mcp' | 'hosted' | 'handoff';

/** The name as models and criteria have it (G75): vendors allow no dots. */
export function wireNameOf(name: string): string {
  return name.replaceAll('.', '__');
}

/** Who must say yes, how many, and for how long the question stays open. */
export interface ApprovalRule {
  readonly roles: readonly string[];
  /** Number of distinct people who must approve. */
  readonly quorum: number;
  /** How long the question stays open, in ms; undefined: the run's `approvalTimeoutMs`. */
  readonly expiresInMs?: number;
  /** What happens when nobody decided in time; undefined: the run's `onApprovalTimeout`. */
  readonly onExpiry?: 'reject' | 'stop';
  /** Others who may decide as well once the question has been open for a while. */
  readonly escalate?: EscalationRule;
}

export interface EscalationRule {
  /** ms after the question was opened. */
  readonly afterMs: number;
  readonly roles: readonly string[];
}

/**
 * Who may answer a question of the model (G15). 'customer': only the caller whom the run works for; 'staff':
 * everybody else; roles: staff with one of them.
 */
export type AnswerRule = 'customer' | 'staff' | { readonly roles: readonly string[] };

export interface ToolRecord {
  readonly name: string;
  readonly version: string;
  /** The name sent to the model: dots are not allowed there (G75). Reversible within one manifest. */
  readonly wireName: string;
  readonly kind: ToolKind;
  readonly effect: ToolEffect;
  readonly idempotency: Idempotency;
  readonly approval: 'never' | 'by_policy' | ApprovalRule;
  readonly concurrencySafe: boolean;
  /** Limit of one execution, in ms. */
  readonly timeoutMs: number;
  readonly maxResultBytes: number;
  /** Most that one execution costs, in micro-USD; absent: nothing is reserved for it. */
  readonly maxCostMicroUsd?: number;
  /** sha256 of the canonical JSON Schema of the input. */
  readonly schemaHash: string;
  /** The same of what it returns, where that is declared (G73). */
  readonly outputSchemaHash?: string;
  /** The tool can say afterwards whether a key took effect (`probe`). */
  readonly probes: boolean;
  /** Absent: 'probe' where it has one, else 'ask'. 'repeat_with_key': the service recognises the key. */
  readonly onLost?: OnLost;
  /** Whether it can, or must, run in a sandbox of its own; absent: 'none' (G18). */
  readonly sandbox?: 'none' | 'optional' | 'required';
  /** Task queue of the workers that run it; absent: the run's own. */
  readonly queue?: string;
  /** Task queue of the workers that run it in a sandbox; absent: `queue`. */
  readonly sandboxQueue?: string;
  /** With kind 'human_input': whose answers count; absent: anybody's. */
  readonly answeredBy?: AnswerRule;
  /** What the card of its question shows first; absent: its arguments as they are. */
  readonly card?: ToolCard;
  /** No run of its agent goes on when nobody can call it; absent: the model finds another way (G106). */
  readonly required?: true;
  /** The model's vendor runs it, nobody here does (G48). */
  readonly hosted?: HostedBound;
  /** With kind 'subagent': the sub-agent that it starts; absent: its argument `name` says. */
  readonly startsAgent?: string;
  /** A connector's server runs it (G70). */
  readonly mcp?: ServerTool;
  /** A read that mostly ends within a moment: it is tried in the task that decides (core/call/quick.ts). */
  readonly quick?: true;
}

/** Which tool of which server it is, as the connector was told when the run began. */
export interface ServerTool {
  readonly connector: string;
  /** As the server names it. */
  readonly tool: string;
  /** sha256 of the canonical form of all that the server said of the tool. */
  readonly hash: string;
}

/** What one model request may cost because a tool is offered that the vendor runs in it. */
export interface HostedBound {
  /** Most input tokens that its results add. */
  readonly inputTokens: number;
  /** Most uses that are billed; the vendor is told to keep to it. */
  readonly uses: number;
  /** Fee for each use, in micro-USD. */
  readonly feeMicroUsd: number;
}

export function sideEffectOf(effect: ToolEffect): SideEffect {
  if (effect === 'none') return 'none';
  if (effect === 'read') return 'read_only';
  return 'mutating';
}

export function isMutating(tool: Pick<ToolRecord, 'effect'>): boolean {
  return sideEffectOf(tool.effect) === 'mutating';
}

export type RetryClass =
  /** Repeated freely: nothing happens twice. */
  | 'repeatable'
  /** Repeated with the same key; the tool recognises the key. */
  | 'same_key'
  /** One attempt; what a loss means is found out by reconciling. */
  | 'single';

/** Which retries a declared tool gets (C54). */
export function retryFor(tool: Pick<ToolRecord, 'effect' | 'idempotency'>): RetryClass {
  if (sideEffectOf(tool.effect) !== 'mutating') {
    return tool.idempotency === 'none' || tool.idempotency === 'unknown' ? 'single' : 'repeatable';
  }
  if (tool.idempotency === 'keyed' && tool.effect === 'write') return 'same_key';
  return 'single';
}

/** `name@version`, the key under which a worker finds the code. */
export function toolKey(tool: Pick<ToolRecord, 'name' | 'version'>): string {
  return `${tool.name}@${tool.version}`;
}

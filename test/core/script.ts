/** What a test of the core writes down: tools, model replies, outcomes. In the spirit of spec fixtures. */
import type { Attachment } from '../../core/state/attachment.js';
import { DEFAULT_BUDGET, type Budget } from '../../core/state/budget-fields.js';
import type { Letter } from '../../core/state/mail.js';
import type { Decision } from '../../core/state/ask.js';
import type { DeskKey } from '../../core/state/statement.js';
import { readFlow } from '../../core/dataflow/flow.js';
import { callDigest, type Json, type StoredText } from '../../core/json/json.js';
import type {
  ChildEnd,
  ElsewhereReason,
  PrepareChildOutput,
  RetriedAttempt,
  ToolOutcome,
} from '../../core/state/effect.js';
import type { Finding, RecoveryStep } from '../../core/state/recovery.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { Failure } from '../../core/state/failure.js';
import { HANDOFF_TOOL } from '../../core/state/handoff.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { HookMatches, HookNames, HookOpinion } from '../../core/state/hook.js';
import {
  NO_USAGE,
  type CallCheck,
  type ModelRoute,
  type ProposedCall,
  type Reply,
  type Usage,
} from '../../core/state/model.js';
import type { PolicyRule } from '../../core/state/policy.js';
import type { OpenedSession } from '../../core/state/session.js';
import { DEFAULT_SETTINGS, type Settings } from '../../core/state/settings.js';
import type { ParentRef, Task } from '../../core/state/task.js';
import type { SupervisorTerms, SupervisorWord } from '../../core/state/supervision.js';
import type { ToolRecord } from '../../core/state/tool.js';

export interface ChildScript {
  readonly refused?: NonNullable<PrepareChildOutput['refused']>;
  readonly begun?: true;
  /** How long its row takes, ms; default 0. */
  readonly preparesMs?: number;
  /** Why its row cannot be written. */
  readonly notPrepared?: string;
  readonly end?: Partial<ChildEnd>;
  /** How long it works, ms; default 10. Infinity: until it is told to stop. */
  readonly ms?: number;
  /** What its workflow returns, of which Temporal tells; null: it fails. Absent: it says that it has ended. */
  readonly returns?: unknown;
  /** Its id is in use when it is to start. */
  readonly existed?: true;
  /** The signal of its end is lost. */
  readonly silent?: true;
  /** It hears nothing that it is told, and goes on. */
  readonly waits?: true;
}

export interface Script {
  readonly task?: Partial<Task>;
  readonly tenant?: string;
  /** The run is a cycle of a goal. */
  readonly parent?: ParentRef;
  /** Where the caller works. */
  readonly cwd?: string;
  readonly budget?: Partial<Budget>;
  readonly settings?: Partial<Settings>;
  readonly policy?: readonly PolicyRule[];
  /** Default: calls in a sandbox stay on the run's own queue. */
  readonly sandboxQueue?: string | undefined;
  readonly tools?: readonly ToolRecord[];
  readonly contextWindow?: number;
  /** What the agent's own model reads beside text. */
  readonly takes?: ModelRoute['takes'];
  /** Routes beside the agent's own, by name; with any given, other names are unknown. */
  readonly routes?: { readonly [name: string]: Partial<ModelRoute> };
  /** Size of the static prompt: no reply may be billed for more than was sent. */
  readonly promptBytes?: number;
  readonly model: readonly ModelEntry[];
  /** By tool, one entry per execution; the last one repeats. Without any: ok with an echo. */
  readonly outcomes?: { readonly [tool: string]: readonly ToolEntry[] };
  /** What reconciling finds, in order; the last one repeats. */
  readonly findings?: readonly FindingEntry[];
  /** What finding out, or recording a person's word, says that it did. Absent: as before it said so. */
  readonly recovery?: readonly RecoveryStep[];
  /** What a person gives as a result does not fit the tool's output schema. */
  readonly unfitValue?: Finding;
  /** Texts of the blob store, by hash. */
  readonly blobs?: { readonly [hash: string]: string };
  /** What `check_call` says of changed arguments; default: they are fine. */
  readonly check?: (tool: string, args: Json) => CallCheck;
  /** The schema that `check_call` uses in place of the run's; default: the run's. */
  readonly checkedBy?: string;
  /** By hook name, in order; then no opinion. */
  readonly hooks?: { readonly [hook: string]: readonly HookEntry[] };
  readonly hookNames?: HookNames;
  readonly hookMatches?: HookMatches;
  readonly compactions?: readonly (
    | { readonly tokens?: number; readonly usage?: Usage; readonly answerKept?: true }
    | { readonly failure: Failure }
  )[];
  /** Who looks at the run, and when. */
  readonly supervisor?: Pick<SupervisorTerms, 'everyTurns' | 'on'>;
  /** What the supervisor says, in order; then that the run goes on. */
  readonly looks?: readonly (
    | { readonly word?: SupervisorWord; readonly usage?: Usage; readonly invalid?: string }
    | { readonly failure: Failure }
  )[];
  /** What calls cost that did not say so themselves, in order; default: nothing. */
  readonly accounts?: readonly (
    { readonly costMicroUsd: number; readonly usage?: Usage } | { readonly failure: Failure }
  )[];
  /** So many flushes fail before one succeeds. */
  readonly flushFailures?: number;
  /** Default: the newest. */
  readonly rules?: number;
  /** Keys of the desk that the first segment is told, and those after it (default: the same). */
  readonly deskKeys?: readonly DeskKey[];
  readonly laterDeskKeys?: readonly DeskKey[];
  /** What the mailbox of the run has, whatever it has read. */
  readonly letters?: readonly Letter[];
  /** Keys that count when a word on an outcome is recorded, in order; then every key does. */
  readonly keysAtRecord?: readonly (readonly DeskKey[])[];
  /** Workers of an earlier release take the model calls: they join nothing. */
  readonly olderWorkers?: true;
  /** The session that `open_run` finds. */
  readonly session?: OpenedSession;
  /** `open_run` is tried for ever. */
  readonly openNever?: boolean;
  /** Sub-agents that the run may start. */
  readonly agents?: Frozen['agents'];
  readonly treeLimits?: Frozen['treeLimits'];
  readonly within?: Frozen['within'];
  readonly lineage?: Frozen['lineage'];
  /** By their numbers; default: each answers at once. */
  readonly children?: readonly ChildScript[];
  /** Another run had the task before. */
  readonly handedFrom?: Frozen['handedFrom'];
  /** To whom the run may be handed over. */
  readonly handoffTo?: Frozen['handoffTo'];
  /** Runs that take the task over, by their numbers; default: each is there at once. */
  readonly handed?: readonly HandedScript[];
  /** By segment. */
  readonly openFailures?: { readonly [segment: number]: Failure };
  /** Why the house refuses the task. */
  readonly denied?: string;
  /** The goal is spilled to the blob store. */
  readonly goalStored?: boolean;
}

export interface HandedScript {
  readonly taken?: { readonly costMicroUsd: number };
  readonly begun?: true;
  /** Its id was in use when it was started. */
  readonly existed?: true;
  /** How long its start takes, ms; default 0. */
  readonly startsMs?: number;
  readonly notPrepared?: Failure;
}

export interface ModelReply {
  readonly reply: Reply;
  /** What the activity says of its size; default: nothing. */
  readonly bytes?: number;
  readonly delayMs?: number;
  readonly attempts?: number;
  readonly retried?: readonly RetriedAttempt[];
  readonly lostCostMicroUsd?: number;
  /** What had arrived when the call is cancelled. */
  readonly partial?: Reply;
}
export type ModelEntry = ModelReply | { readonly failure: Failure; readonly delayMs?: number };

export type ToolEntry =
  | {
      readonly ok: Json;
      readonly delayMs?: number;
      readonly attempts?: number;
      readonly costMicroUsd?: number;
    }
  | {
      readonly stored: StoredText;
      readonly delayMs?: number;
      readonly proves?: readonly string[];
      readonly attachments?: readonly Attachment[];
    }
  | {
      readonly error: string;
      readonly code?: ErrorCodeOfTool;
      readonly attempts?: number;
      readonly delayMs?: number;
    }
  | { readonly ambiguous: string; readonly claimed?: number; readonly delayMs?: number }
  | { readonly keyConflict: true }
  /** Its server asks a person. */
  | { readonly asks: string }
  /** A quick attempt gave no answer. */
  | { readonly elsewhere: ElsewhereReason; readonly delayMs?: number }
  /** Workers serve the tool with this schema instead. */
  | { readonly schemaChanged: string }
  /** The same was done before, by these keys. */
  | { readonly repeats: readonly string[] }
  | { readonly failure: Failure; readonly delayMs?: number }
  | { readonly hang: true };
type ErrorCodeOfTool = Extract<ToolOutcome, { kind: 'error' }>['code'];

export type HookEntry =
  | (HookOpinion & { readonly error?: string; readonly delayMs?: number })
  /** The activity failed: no hook has answered. */
  | { readonly failure: Failure };

export type FindingEntry = Finding | { readonly failure: Failure };

const READ = {
  effect: 'read',
  idempotency: 'natural',
  approval: 'never',
  concurrencySafe: true,
} as const;
const NEEDS_APPROVAL = { roles: [], quorum: 1 };

export function tool(name: string, changes: Partial<ToolRecord> = {}): ToolRecord {
  return {
    name,
    version: '1',
    wireName: name,
    kind: 'tool',
    effect: 'read',
    idempotency: 'natural',
    approval: 'never',
    concurrencySafe: false,
    timeoutMs: 30_000,
    maxResultBytes: 10_485_760,
    schemaHash: 'schema',
    probes: false,
    ...changes,
  };
}

/** The standard toolbox of the fixtures. */
export const TOOLBOX: readonly ToolRecord[] = [
  tool('read_order', READ),
  tool('lookup_order', READ),
  tool('read_delivery_status', READ),
  tool('search_refund_policy', READ),
  tool('write_note', { effect: 'write', idempotency: 'keyed', approval: 'by_policy' }),
  tool('send_email', { effect: 'send', idempotency: 'none', approval: NEEDS_APPROVAL }),
  tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval: NEEDS_APPROVAL }),
  tool('delete_order', { effect: 'delete', idempotency: 'none', approval: NEEDS_APPROVAL }),
  tool('shell', {
    effect: 'execute',
    idempotency: 'none',
    approval: 'by_policy',
    sandbox: 'optional',
  }),
  tool('draft_refund_recommendation', { effect: 'none' }),
  tool('ask_customer', { kind: 'human_input', effect: 'none' }),
];

export const STRICT_001: Partial<Settings> = {
  onDeny: 'refuse',
  onInvalid: 'refuse',
  onToolFailure: { mode: 'stop', threshold: 1, outcome: 'tool_failure' },
};

/** The route of a name, or undefined when the script says what there is and this is not among it. */
export function scriptedRoute({ routes }: Script, name: string): ModelRoute | undefined {
  if (routes !== undefined && routes[name] === undefined) return undefined;
  return {
    name,
    provider: 'scripted',
    model: name.split('/').at(-1)!,
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    prices: { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 },
    pricesVersion: 'p1',
    temperatureAllowed: true,
    ...routes?.[name],
  };
}

function supervisorOf(when: NonNullable<Script['supervisor']>, route: ModelRoute): SupervisorTerms {
  return {
    agent: { name: 'watcher', version: '1' },
    route,
    instructions: { text: 'Watch.' },
    maxTokens: 1_000,
    roles: [],
    ...when,
  };
}

export function frozenOf(script: Script): Frozen {
  const { contextWindow = 200_000, settings } = script;
  const route = scriptedRoute({ ...script, routes: { 'scripted/model': {} } }, 'scripted/model')!;
  const fallback = settings?.fallbackModel && scriptedRoute(script, settings.fallbackModel);
  return {
    agent: { name: 'case', version: '1' },
    route: { ...route, contextWindow, ...(script.takes && { takes: script.takes }) },
    ...(fallback && { fallback }),
    prompt: { hash: 'root', bytes: script.promptBytes ?? 400 },
    tools: script.tools ?? TOOLBOX,
    ...(script.agents !== undefined && { agents: script.agents, authority: 'authority' }),
    ...(script.handoffTo !== undefined && { handoffTo: script.handoffTo }),
    ...(script.handedFrom !== undefined && { handedFrom: script.handedFrom }),
    ...(script.supervisor !== undefined && { supervisor: supervisorOf(script.supervisor, route) }),
    ...(script.treeLimits !== undefined && { treeLimits: script.treeLimits }),
    ...(script.within !== undefined && { within: script.within }),
    ...(script.lineage !== undefined && { lineage: script.lineage }),
    policy: { version: '7', rules: script.policy ?? [] },
    ...(script.sandboxQueue !== undefined && { sandboxQueue: script.sandboxQueue }),
    hooks: script.hookNames ?? {},
    ...(script.hookMatches !== undefined && { hookMatches: script.hookMatches }),
    budget: { ...DEFAULT_BUDGET, ...script.budget },
    settings: { ...DEFAULT_SETTINGS, ...script.settings },
    versions: { agent: '1', policy: '7', modelRoute: route.name, pricing: 'p1' },
  };
}

const USAGE: Usage = { ...NO_USAGE, input: 1_000, output: 100 };

/** A reply of text alone; blank text is text. */
export function says(text: string, more: Partial<Reply> = {}): ModelReply {
  return {
    reply: { text: { text }, calls: [], stop: 'end_turn', usage: USAGE, model: 'model', ...more },
  };
}

/** A reply with calls. */
export function calls(...proposed: readonly ProposedCall[]): ModelReply {
  return { reply: { calls: proposed, stop: 'tool_use', usage: USAGE, model: 'model' } };
}

export function usage(input: number, output: number): { readonly usage: Usage } {
  return { usage: { ...NO_USAGE, input, output } };
}

export function withReply(entry: ModelReply, more: Partial<Reply>): ModelReply {
  return { ...entry, reply: { ...entry.reply, ...more } };
}

/** One call as the model activity hands it over: checked against a small schema by name. */
export function call(id: string, name: string, args: Json = { orderId: '1' }): ProposedCall {
  const digest = callDigest({ tool: name, toolVersion: '1', args });
  return { id, tool: name, toolVersion: '1', args, digest, check: checkOf(name, args) };
}

/** A call of a plan: arguments with references and the `_` names of dataflow. */
export function flows(id: string, name: string, args: Json): ProposedCall {
  const read = readFlow(args);
  if (!read.ok) throw new Error(read.defect);
  const { flow } = read;
  const proposed = call(id, name, read.args);
  // Arguments with references are checked when those are resolved.
  const later = flow !== undefined && flow.refs.length > 0 && isKnown(name);
  return {
    ...proposed,
    ...(later && { check: { ok: true } as const }),
    ...(flow !== undefined && { flow }),
  };
}

function isKnown(name: string): boolean {
  return TOOLBOX.some((one) => one.name === name) || name.startsWith('x_') || name === HANDOFF_TOOL;
}

export function checkOf(name: string, args: Json): ProposedCall['check'] {
  if (!isKnown(name))
    return { ok: false, code: 'unknown_tool', message: `There is no tool "${name}".` };
  const { orderId } = args as { readonly orderId?: Json };
  const wanted = name.includes('order') && name !== 'x_free';
  return wanted && (typeof orderId !== 'string' || orderId.trim() === '')
    ? { ok: false, code: 'invalid_arguments', message: 'orderId: must not be blank' }
    : { ok: true };
}

export function failure(code: Failure['code'], more: Partial<Failure> = {}): { failure: Failure } {
  return { failure: { code, message: `${code} happened`, ...more } };
}

/** What the activity says of a model call that failed for good, when nothing was billed. */
export function exhaustedBy(code: Failure['code'], details: object = {}): { failure: Failure } {
  return failure(code, {
    details: { attempts: 7, lostCostMicroUsd: 0, lostUsage: {}, ...details },
  });
}

/** A decision that names exactly what the ask is about. */
export function decisionOn(ask: AskView, changes: Partial<Decision> = {}): Decision {
  return {
    v: 1,
    askId: ask.askId,
    argsHash: ask.argsHash,
    decision: 'approve',
    by: 'pat',
    roles: [],
    decidedAt: ask.openedAt,
    ...changes,
  };
}

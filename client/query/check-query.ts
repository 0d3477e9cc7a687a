/**
 * Checks what a query is asked to do, and makes the start that it becomes.
 * Invariant: an option that nothing would come of is refused by name, never ignored.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { KnownFields } from '../../authoring/known-fields.js';
import type { BudgetLimits } from '../../authoring/budget-in-usd.js';
import type { SettingsOverrides, Task } from '../../core/state/task.js';
import type { StartOptions } from '../runs/start-run.js';
import { didYouMean } from '../../pure/nearest-names.js';
import { isRecord, type OptionRule } from '../../pure/options.js';
import { FOLLOW_OPTIONS, QUERY_OPTIONS } from './option-rules.js';
import type { AttachmentSource } from '../../attachments/attach.js';
import type { FollowQuery, QueryOptions, QueryRequest, StartQuery, UserPrompt } from './options.js';
import { checkNames } from '../closed-options.js';

/** Where what other SDKs take as an option is said here. */
const ELSEWHERE: { readonly [name: string]: string } = {
  systemPrompt: 'Instructions belong to the agent: defineAgent({ instructions }).',
  hooks: 'Hooks run in the worker: defineHook, and defineAgent({ hooks }).',
  mcpServers: 'There are no MCP servers yet; a tool of yours may call one.',
  additionalDirectories: 'Tools say themselves where they work: defineTool.',
  settingSources: 'Settings are those of the agent, and the options of this query.',
  debug: 'See what a run did with `holdfast explain` and `holdfast watch --all`.',
  debugFile: 'See what a run did with `holdfast explain` and `holdfast export`.',
  forkSession: 'Use fork: true.',
  resumeSessionAt: 'Use fork: { at }.',
  env: 'The run works in the worker, with its environment.',
};

/** `output` is taken before, and named for whoever misspells it. */
const STARTED: KnownFields<StartQuery> & { readonly output: true } = {
  prompt: true,
  options: true,
  output: true,
};
const FOLLOWED: KnownFields<FollowQuery> & { readonly output: true } = {
  runId: true,
  afterSeq: true,
  afterSeqs: true,
  afterCursor: true,
  prompt: true,
  options: true,
  output: true,
};

/** Errors: InvalidTask, which names the option. */
export function checkQuery(request: QueryRequest): void {
  checkParameters(request);
  const isFollowed = 'runId' in request;
  const known = isFollowed ? FOLLOW_OPTIONS : QUERY_OPTIONS;
  checkNames(request, isFollowed ? FOLLOWED : STARTED, { 'options: { ? }': Object.keys(known) });
  checkOptions(request.options ?? {}, known);
  if (isFollowed) checkFollowed(request);
  else if (!isConversation(request.prompt) && typeof request.prompt !== 'string') {
    if (!isRecord(request.prompt)) {
      throw refused('prompt', 'it must be a text, a task or an async iterable of messages');
    }
  }
}

/** Errors: InvalidTask, for what is no query at all. */
export function checkParameters(parameters: unknown): void {
  if (!isRecord(parameters)) throw refused('the query', 'it must be { prompt, options }');
  const { options } = parameters;
  if (options !== undefined && !isRecord(options)) throw refused('options', 'it must be an object');
}

function checkOptions(options: object, known: { readonly [name: string]: OptionRule }): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const rule = Object.hasOwn(known, name) ? known[name] : undefined;
    const option = `options.${name.slice(0, 60)}`;
    if (rule === undefined) {
      const names = Object.keys(known);
      const hint = Object.hasOwn(ELSEWHERE, name)
        ? ELSEWHERE[name]
        : `${didYouMean(name, names)}The options are ${names.join(', ')}.`;
      throw refused(option, 'there is no such option here', hint);
    }
    if (!rule.fits(value)) throw refused(option, `it must be ${rule.is}`);
  }
}

function checkFollowed({ runId, afterSeq, afterSeqs, prompt }: FollowQuery): void {
  if (typeof runId !== 'string' || runId === '') {
    throw refused('runId', 'it must be the id of a run');
  }
  if (afterSeq !== undefined && !isSeq(afterSeq)) {
    throw refused('afterSeq', 'it must be the seq of a message');
  }
  const isByRun = typeof afterSeqs === 'object' && afterSeqs !== null;
  if (afterSeqs !== undefined && !(isByRun && Object.values(afterSeqs).every(isSeq))) {
    throw refused('afterSeqs', 'it must have the seq of a message for each run id');
  }
  if (prompt !== undefined && !isConversation(prompt)) {
    throw refused('prompt', 'the run has its goal; further messages are an async iterable');
  }
}

function isSeq(seq: unknown): boolean {
  return Number.isSafeInteger(seq) && Number(seq) >= -1;
}

export function isConversation(prompt: unknown): prompt is AsyncIterable<UserPrompt> {
  return typeof prompt === 'object' && prompt !== null && Symbol.asyncIterator in prompt;
}

/** The start of a run with this goal. A shorthand goes before the same thing in `budget` or `settings`. */
export function startOf(goal: string | Task, options: QueryOptions, isTalk: boolean): StartOptions {
  const { sessionId, resume, continue: latest, fork, cwd } = options;
  const { agent, agents, model, persistSession, runId, openLimitMs, tenant, attachments } = options;
  return {
    ...present({ sessionId, resume, continue: latest, fork, cwd }),
    ...present({ agents, model, persistSession, runId, openLimitMs, tenant, attachments }),
    ...(options.wait === true && { wait: true }),
    agent,
    task: taskOf(goal, options),
    budget: budgetOf(options),
    settings: {
      ...(isTalk && { afterAnswer: 'await_user' }),
      ...options.settings,
      ...settingsOf(options),
    },
  };
}

function taskOf(goal: string | Task, options: QueryOptions): Task {
  const task = typeof goal === 'string' ? { goal } : goal;
  const { tools, caller, outputFormat } = options;
  return {
    ...task,
    ...present({ allowedActions: tools, caller, outputSchema: outputFormat?.schema }),
  };
}

/** An option goes before what `budget` says of the same limit. */
function budgetOf(options: QueryOptions): BudgetLimits {
  const { maxTurns, maxThinkingTokens, maxBudgetUsd, maxCostUsd = maxBudgetUsd } = options;
  if (maxCostUsd !== undefined && maxBudgetUsd !== undefined && maxCostUsd !== maxBudgetUsd) {
    throw refused('options.maxBudgetUsd', 'maxCostUsd says the same limit', 'Give one of them.');
  }
  const own = present({ maxTurns, maxThinkingTokens, maxCostUsd });
  if (maxCostUsd === undefined) return { ...options.budget, ...own };
  const { maxCostMicroUsd: _, ...others } = options.budget ?? {};
  return { ...others, ...own };
}

function settingsOf(options: QueryOptions): SettingsOverrides {
  const { fallbackModel, betas, allowedTools, disallowedTools, permissionMode } = options;
  return present({
    includePartialMessages: options.includePartialMessages,
    fallbackModel,
    betas,
    allowedTools,
    disallowedTools,
    permissionMode,
    allowBypassPermissions: options.allowDangerouslySkipPermissions,
  });
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as Present<T>;
}

/** Undefined: it has none, or is no message. */
export function idOfPrompt(prompt: UserPrompt): string | undefined {
  const id: unknown = typeof prompt === 'string' ? undefined : prompt?.uuid;
  return typeof id === 'string' ? id : undefined;
}

/** Errors: InvalidTask for what is no message of a user. */
export function textOfPrompt(prompt: UserPrompt): string {
  if (typeof prompt === 'string') return prompt;
  const content: unknown = prompt?.message?.content;
  if (typeof content === 'string') return content;
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const texts = blocks
    .filter((block) => sourceOf(block) === undefined)
    .map((block) => (block as { text?: unknown } | null)?.text);
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw refused('a message of prompt', 'it must be a text, or a user message of texts and files');
  }
  return texts.join('\n\n');
}

/** Files of a message, in order. */
export function filesOfPrompt(prompt: UserPrompt): readonly AttachmentSource[] {
  const content: unknown = typeof prompt === 'string' ? undefined : prompt?.message?.content;
  return Array.isArray(content) ? content.flatMap((block) => sourceOf(block) ?? []) : [];
}

function sourceOf(block: unknown): AttachmentSource | undefined {
  if (typeof block !== 'object' || block === null || !('source' in block)) return undefined;
  const { source, title } = block as { readonly source: unknown; readonly title?: unknown };
  if (typeof source !== 'object' || source === null) return undefined;
  const { type, data, media_type: mediaType } = source as { readonly [field: string]: unknown };
  if (type !== 'base64' || typeof data !== 'string')
    throw refused('a message of prompt', 'a file must have a source of base64');
  return {
    data,
    ...(typeof mediaType === 'string' && { mediaType }),
    ...(typeof title === 'string' && { name: title }),
  };
}

export function refused(what: string, why: string, hint?: string): HoldfastError {
  return new HoldfastError('InvalidTask', `${what} cannot be used: ${why}.`, {
    hint: hint ?? 'Correct it and ask again.',
  });
}

/**
 * run_hooks: asks all hooks of one point, in order.
 * Invariants: whatever a hook does is an outcome, never a failure of the activity; each has its own time and
 * all together have the activity's; an outcome is kept before the next hook is asked, so that a redelivery
 * asks only those that had not answered.
 */
import type { Hook } from '../../authoring/index.js';
import type { RunHooksInput, RunHooksOutput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { HookOpinion, HookOutcome } from '../../core/state/hook.js';
import { endsTheChain } from '../../core/hooks/opinion.js';
import { ARGUMENTS_BYTES_MAX, type Json } from '../../core/json/json.js';
import { appendEvents } from '../run/append-events.js';
import { findArgumentDefect } from '../tool/argument-limits.js';
import { graceOf, now, type ActivityDeps } from '../deps.js';
import { failure } from '../failure.js';
import { parseOpinion } from './hook-opinion.js';
import { refusalFor } from '../lacking-code.js';
import { isUsedUp, usedUpText } from '../progress.js';
import type { CodeOutcome } from '../tool/run-code.js';
import { runOutside } from '../run-outside.js';
import type { Scope } from '../scope.js';
import { writePatiently } from '../store-away.js';
import { messageOf } from '../tool/tool-message.js';

const ERROR_CHARS_MAX = 500;

type Payload = { readonly [key: string]: Json };

export async function runHooks(
  deps: ActivityDeps,
  scope: Scope,
  input: RunHooksInput,
): Promise<RunHooksOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  if (isUsedUp(scope.work, input)) {
    const message = usedUpText(`A hook of ${input.point}`, scope.work, input);
    throw failure('Internal', { message, retryable: false, details: { timedOut: true } });
  }
  const until = now(deps) + input.timeoutMs;
  const outcomes: HookOutcome[] = [];
  let payload = await wholePayload(deps, input);
  for (const [index, name] of input.hooks.entries()) {
    const asked: HookCall = { input, index, name, payload, until };
    const outcome = await keptOutcome(deps, scope, asked);
    outcomes.push(outcome);
    if (endsTheChain(input.point, outcome)) break;
    payload = await chained(deps, asked, outcome.opinion);
  }
  return { outcomes: lean(outcomes), eventsUpTo };
}

interface HookCall {
  readonly input: RunHooksInput;
  readonly index: number;
  readonly name: string;
  readonly payload: Payload;
  /** ms since epoch. */
  readonly until: number;
}

/** Hooks see texts, not references. */
async function wholePayload(deps: ActivityDeps, input: RunHooksInput): Promise<Payload> {
  const { payload, run } = input;
  const entries = Object.entries(payload as Payload);
  const whole: [string, Json][] = [];
  for (const [key, value] of entries) {
    whole.push([key, await deps.store.restoreArguments(run.tenant, value)]);
  }
  return Object.fromEntries(whole);
}

/** The next hook judges the input as this one left it. */
async function chained(
  deps: ActivityDeps,
  { input, payload }: HookCall,
  { updatedInput }: HookOpinion,
): Promise<Payload> {
  if (updatedInput === undefined) return payload;
  const whole = await deps.store.restoreArguments(input.run.tenant, updatedInput);
  return { ...payload, tool_input: whole };
}

/** Only the last change of the input counts, and all of them might not fit. */
function lean(outcomes: readonly HookOutcome[]): readonly HookOutcome[] {
  const last = outcomes.findLastIndex(({ opinion }) => opinion.updatedInput !== undefined);
  return outcomes.map((outcome, index) => {
    if (index >= last) return outcome;
    const { updatedInput: _, ...opinion } = outcome.opinion;
    return { ...outcome, opinion };
  });
}

async function keptOutcome(
  deps: ActivityDeps,
  scope: Scope,
  asked: HookCall,
): Promise<HookOutcome> {
  const { tenant, runId } = asked.input.run;
  // Replies of models count from 1.
  const requestDigest = `${scope.effectId}:hook:${asked.index}`;
  const key = { tenant, runId, call: 0, requestDigest };
  const kept = await deps.store.getReply(key);
  if (kept !== undefined) return kept as unknown as HookOutcome;
  const outcome = await ask(deps, scope, asked);
  const output = outcome as unknown as Json;
  const stored = await writePatiently(deps, scope, () => deps.store.putReply({ ...key, output }));
  return stored as unknown as HookOutcome;
}

async function ask(deps: ActivityDeps, scope: Scope, asked: HookCall): Promise<HookOutcome> {
  const { input, name, until } = asked;
  const hook = deps.config.hooks.get(name);
  if (hook?.point !== input.point) return lacking(deps, scope, asked);
  const startedAt = now(deps);
  const timeoutMs = Math.min(hook.timeoutMs, until - startedAt);
  if (timeoutMs <= 0) return failed(asked, 'the hooks before it used up the time', 0);
  const ended = await runHook(deps, scope, { asked, hook, timeoutMs });
  const durationMs = Math.max(0, now(deps) - startedAt);
  if (ended.kind === 'timed_out') {
    return failed(asked, `it did not answer within ${timeoutMs} ms`, durationMs);
  }
  if (ended.kind === 'threw') return failed(asked, messageOf(ended.error), durationMs);
  if (ended.kind === 'stopped') {
    // Only this worker has to end: another one asks again.
    if (!scope.stopRequested()) {
      throw failure('Aborted', { message: 'This worker is shutting down.', retryable: true });
    }
    return failed(asked, 'stopped with the run', durationMs);
  }
  const parsed = parseOpinion(input.point, ended.value);
  if (!parsed.ok) return failed(asked, parsed.error, durationMs);
  const stored = await storedOpinion(deps, asked, parsed.opinion);
  return typeof stored === 'string'
    ? failed(asked, stored, durationMs)
    : { hook: name, opinion: stored, durationMs };
}

/** Another worker may have it; once it has been waited for, it is a hook that failed. */
function lacking(deps: ActivityDeps, scope: Scope, asked: HookCall): HookOutcome {
  const { unservedMs } = asked.input;
  const missing = { part: 'hook', name: asked.name } as const;
  const refusal =
    unservedMs === undefined ? undefined : refusalFor(deps, scope, { ...missing, unservedMs });
  if (refusal !== undefined) throw refusal;
  return failed(asked, 'this worker does not have it', 0);
}

interface Running {
  readonly asked: HookCall;
  readonly hook: Hook;
  readonly timeoutMs: number;
}

function runHook(
  deps: ActivityDeps,
  scope: Scope,
  { asked, hook, timeoutMs }: Running,
): Promise<CodeOutcome> {
  const { runId, tenant, traceId } = asked.input.run;
  const idempotencyKey = `${runId}:${scope.effectId}:${hook.name}`;
  const run = (signal: AbortSignal): Promise<unknown> =>
    hook.run(structuredClone(asked.payload), { runId, tenant, traceId, idempotencyKey, signal });
  const { workMs } = asked.input;
  const graceMs = graceOf(deps, timeoutMs);
  return runOutside(deps, scope, { run, timeoutMs, graceMs, workMs });
}

/** The opinion with long texts of its input in the store, or why that cannot be. */
async function storedOpinion(
  { store }: ActivityDeps,
  { input }: HookCall,
  opinion: HookOpinion,
): Promise<HookOpinion | string> {
  if (opinion.updatedInput === undefined) return opinion;
  const defect = findArgumentDefect(opinion.updatedInput);
  if (defect !== undefined) return `its updatedInput cannot be used: ${defect}`;
  try {
    const { args, bytes } = await store.spillArguments(input.run.tenant, opinion.updatedInput);
    return bytes > ARGUMENTS_BYTES_MAX
      ? 'its updatedInput is too large'
      : { ...opinion, updatedInput: args };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'InvalidRequest') throw error;
    return `its updatedInput cannot be used: ${error.message}`;
  }
}

function failed({ name }: HookCall, error: string, durationMs: number): HookOutcome {
  return { hook: name, opinion: {}, error: error.slice(0, ERROR_CHARS_MAX), durationMs };
}

/**
 * Business controls, looked at in the transaction that claims a call: the freeze switch, limits across runs,
 * and the guard against doing the same again.
 * Invariants: they bind every claim, also those of runs that began before them; what they refuse has not
 * happened, unless an earlier start of it is in doubt; what a claim takes of a limit is reserved with it.
 */
import type { ExecuteToolInput, ToolOutcome } from '../../core/state/effect.js';
import { freezeOn, frozenMessage } from '../../pure/freeze.js';
import { isChildId } from '../../pure/goal/child-start.js';
import { exceedance, limitMessage, type Spending } from '../../core/controls/limits-across-runs.js';
import type { Identity } from '../../core/controls/repeats.js';
import { toolKey } from '../../core/state/tool.js';
import type { StoreCalls } from '../../store/store.js';
import { auditEnd, auditRefusal } from './audit-effect.js';
import type { ActivityDeps, InTransaction } from '../deps.js';
import { doneBeforeReset, doneFor, doneInFamily } from './done-before.js';
import type { Execution } from './execute-read.js';
import { ledgerTarget } from './ledger-names.js';
import { messageOf } from './tool-message.js';

const TEXT_CHARS_MAX = 200;
const PARTS_MAX = 10;

/** What one call is about, and what it takes. */
export interface Controlled {
  readonly identity?: Identity;
  readonly spending?: Spending;
}

export type ControlledCall =
  | { readonly ok: true; readonly controlled: Controlled | undefined }
  | { readonly ok: false; readonly outcome: ToolOutcome };

/** What the tool's own functions say of a call. They run before the transaction: it waits for nobody. */
export function controlledBy({ runnable }: Execution): ControlledCall {
  const { controls, record } = runnable.tool;
  if (controls === undefined) return { ok: true, controlled: undefined };
  try {
    return { ok: true, controlled: controlledOf(controls, runnable.input) };
  } catch (error) {
    const message = `Nothing was done: the controls of ${record.name} failed: ${messageOf(error)}`;
    return { ok: false, outcome: { kind: 'error', code: 'execution_error', message } };
  }
}

type Controls = NonNullable<Execution['runnable']['tool']['controls']>;

/** Throws when what the tool's own functions say cannot be used. */
export function controlledOf(controls: Controls, input: unknown): Controlled {
  const spending = spendingOf(controls.limits, input);
  const identity = identityOf(controls.identity?.of(input));
  return {
    ...(spending !== undefined && { spending }),
    ...(identity !== undefined && { identity }),
  };
}

type Limits = NonNullable<Controls['limits']>;

function spendingOf(limits: Limits | undefined, input: unknown): Spending | undefined {
  if (limits === undefined) return undefined;
  const amount = limits.amount === undefined ? 0 : limits.amount(input);
  if (!Number.isSafeInteger(amount) || (amount as number) < 0) {
    throw new Error(`the amount is ${JSON.stringify(amount)}, not a whole number from 0`);
  }
  if (limits.customer === undefined) return { amount: amount as number };
  return { amount: amount as number, customer: textOf('customer', limits.customer(input)) };
}

function identityOf(value: unknown): Identity | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > PARTS_MAX) {
    throw new Error(`the identity is no list of 1 to ${PARTS_MAX} texts`);
  }
  return value.map((part) => textOf('identity', typeof part === 'number' ? String(part) : part));
}

/** In Unicode's normal form C, like persons: two spellings of one name would be two customers. */
function textOf(what: string, value: unknown): string {
  const text = typeof value === 'string' ? value.normalize('NFC') : '';
  const isText = text !== '' && text.length <= TEXT_CHARS_MAX && !/\0|\p{Surrogate}/u.test(text);
  if (isText) return text;
  throw new Error(`its ${what} is no text of 1 to ${TEXT_CHARS_MAX} characters`);
}

export interface ControlledExecution extends Execution {
  readonly controlled: Controlled | undefined;
}

/** An execution that is about to be claimed. */
interface Claiming extends ControlledExecution {
  /** Temporal run id of the execution that claims. */
  readonly claimant: string;
  /** ms since epoch. */
  readonly at: number;
  /** It was claimed, and perhaps started, before. */
  readonly renewed: boolean;
  /** An earlier start may have taken effect. */
  readonly inDoubt: boolean;
}

/** Why this call may not be claimed now; undefined: it may. */
export async function refusedByControls(
  deps: InTransaction,
  execution: Claiming,
): Promise<ToolOutcome | undefined> {
  const { input, renewed } = execution;
  const refused = await objectionOfControls(deps, execution);
  if (refused === undefined || refused.kind === 'ambiguous') return refused;
  // Its earlier starts are known to have done nothing, and no other follows.
  if (renewed) await voidWithReserve(deps.store, input);
  await auditRefusal(deps, input, refused.kind === 'error' ? refused.code : 'done_before');
  return refused;
}

async function objectionOfControls(
  deps: InTransaction,
  execution: Claiming,
): Promise<Extract<ToolOutcome, { kind: 'error' | 'ambiguous' | 'repeats' }> | undefined> {
  const message = await whileFrozen(deps, execution);
  if (message !== undefined) {
    return execution.inDoubt
      ? { kind: 'ambiguous', message: `An earlier start is in doubt. ${message}` }
      : { kind: 'error', code: 'frozen', message };
  }
  // What a renewed claim does is reserved, and agreed to, already.
  if (execution.renewed) return undefined;
  const objection =
    execution.controlled === undefined ? undefined : await objectionAcrossRuns(deps, execution);
  if (objection !== undefined) return objection;
  const { input, claimant } = execution;
  // What a fork has started asks as the fork does, and only the store knows of both.
  const mayBeOfFork = input.forked === true || isChildId(input.run.runId);
  const repeated = mayBeOfFork ? await doneInFamily(deps.store, input) : undefined;
  return repeated ?? doneBeforeReset(deps.store, input, claimant);
}

async function objectionAcrossRuns(deps: InTransaction, execution: Claiming) {
  await deps.store.holdTool(execution.input.run.tenant, execution.input.call.tool);
  const { input, runnable, controlled, at } = execution;
  const windowMs = runnable.tool.controls?.identity?.windowMs;
  const identity = controlled?.identity;
  const objection = await overLimit(deps, execution);
  if (objection !== undefined || windowMs === undefined || identity === undefined) return objection;
  return doneFor(deps.store, input, { identity, since: at - windowMs });
}

async function whileFrozen(
  deps: InTransaction,
  { input, at }: Claiming,
): Promise<string | undefined> {
  const { run, call } = input;
  const freezes = await deps.store.freezesInForce(run.tenant, at);
  if (freezes.length === 0) return undefined;
  const agent = (await deps.store.getRun(run.tenant, run.runId))?.agent ?? '';
  const freeze = freezeOn(freezes, { tool: call.tool, agent }, at);
  if (freeze === undefined) return undefined;
  const until = freeze.until === undefined ? undefined : new Date(freeze.until).toISOString();
  return frozenMessage(call.tool, freeze, until);
}

async function overLimit(
  deps: InTransaction,
  { input, runnable, controlled, at }: Claiming,
): Promise<Extract<ToolOutcome, { kind: 'error' }> | undefined> {
  const { limits } = runnable.tool.controls ?? {};
  const spending = controlled?.spending;
  if (limits === undefined || spending === undefined) return undefined;
  const totals = await deps.store.totalsFor(targetOf(input), spending, at);
  const over = exceedance(limits.rules, totals, spending);
  if (over === undefined) return undefined;
  const message = limitMessage(input.call.tool, over);
  return { kind: 'error', code: 'limit_exceeded', message };
}

/** Reserves what a claim takes, and remembers what it is about. In the transaction of the claim. */
export async function noteControlled(
  deps: InTransaction,
  { input, controlled, at }: Claiming,
): Promise<void> {
  if (controlled === undefined) return;
  const { call, grant } = input;
  await deps.store.noteEffect({
    ...targetOf(input),
    toolVersion: call.toolVersion,
    at,
    ...controlled,
    approvedBy: grant.approvedBy,
    reference:
      grant.basis === 'tool'
        ? `tool:${toolKey({ name: call.tool, version: call.toolVersion })}`
        : grant.reference,
  });
}

type Claimable = Pick<ExecuteToolInput, 'run' | 'call'>;

/** It is known that this attempt did nothing: what it had reserved is free again. */
export async function releaseControlled(
  store: Pick<StoreCalls, 'releaseEffect'>,
  input: Claimable,
): Promise<void> {
  await store.releaseEffect(targetOf(input));
}

/**
 * The claim goes back, and with it what it had reserved, because of how the start ended; false: the claim was
 * taken away meanwhile.
 */
export async function giveClaimBack(
  deps: ActivityDeps,
  input: ExecuteToolInput,
  ended: ToolOutcome,
): Promise<boolean> {
  return deps.store.together(async (calls) => {
    const voided = await voidWithReserve(calls, input);
    if (voided) await auditEnd({ ...deps, store: calls }, input, ended);
    return voided;
  });
}

async function voidWithReserve(calls: StoreCalls, input: Claimable): Promise<boolean> {
  const { run, call } = input;
  const claim = { tenant: run.tenant, key: call.key, attempt: call.attempt };
  const voided = await calls.voidClaim(claim);
  // What an attempt before it may have taken stays reserved.
  if (voided && call.inDoubt === undefined) await releaseControlled(calls, input);
  return voided;
}

function targetOf({ run, call }: Claimable) {
  return { ...ledgerTarget(run, call), runId: run.runId, tool: call.tool };
}

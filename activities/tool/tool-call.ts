/**
 * From a call as data to code that may run: everything that is checked before a claim.
 * Invariant: a grant that does not fit its call runs nothing (G11).
 */
import type { ApplicationFailure } from '@temporalio/common';
import type { Tool, ToolContext } from '../../authoring/index.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import type {
  ExecuteToolInput,
  RunRef,
  ToolCallRef,
  ToolOutcome,
} from '../../core/state/effect.js';
import { toolKey } from '../../core/state/tool.js';
import { objectionToSignatures } from './check-signatures.js';
import type { Store } from '../../store/store.js';
import type { ActivityDeps, InTransaction } from '../deps.js';
import { callDigest } from '../digests.js';
import { failure } from '../failure.js';
import { findCode, type Code } from '../lacking-code.js';
import type { Scope } from '../scope.js';
import type { Meter } from './tool-cost.js';
import { sandboxOf } from './work-folder.js';

export interface RunnableCall {
  readonly tool: Tool;
  /** Parsed, with its texts restored. */
  readonly input: Json;
}

export type Preparation =
  | { readonly ok: true; readonly runnable: RunnableCall }
  | {
      readonly ok: false;
      readonly outcome: Extract<ToolOutcome, { kind: 'error' | 'schema_changed' }>;
      /** Why the word that it rests on does not count any more. */
      readonly unproven?: string;
      readonly refusal?: undefined;
    }
  /** Another worker may have its code. */
  | { readonly ok: false; readonly refusal: ApplicationFailure };

/** The code and input of a granted call; throws GrantInvalid when the grant is not for this call. */
export async function prepareCall(
  deps: InTransaction,
  scope: Pick<Scope, 'work'>,
  input: ExecuteToolInput,
): Promise<Preparation> {
  const { call, grant } = input;
  const { tool: name, toolVersion, args } = call;
  const digest = callDigest({ tool: name, toolVersion, args });
  if (digest !== call.digest || digest !== grant.digest) {
    throw failure('GrantInvalid', { message: `The grant for ${name} is for another call.` });
  }
  const code = await findCode(deps, scope, { ...input, ...call });
  if (code.kind !== 'here') return withoutCode(call, code);
  return prepareWith(deps, input, code.tool);
}

function withoutCode(
  { tool: name, toolVersion }: ToolCallRef,
  code: Exclude<Code, { kind: 'here' }>,
): Preparation {
  switch (code.kind) {
    case 'elsewhere':
      return { ok: false, refusal: code.refusal };
    case 'changed':
      return { ok: false, outcome: { kind: 'schema_changed', schemaHash: code.schemaHash } };
    case 'nowhere':
      return refused(
        'tool_unavailable',
        `This worker has no tool ${name} of version ${toolVersion}.`,
      );
  }
}

async function prepareWith(
  deps: InTransaction,
  { run, call, grant }: ExecuteToolInput,
  tool: Tool,
): Promise<Preparation> {
  const { tool: name, args } = call;
  if (tool.record.kind === 'hosted') {
    throw failure('GrantInvalid', { message: `${name} is run by the model's vendor alone.` });
  }
  if (typeof tool.record.approval === 'object' && grant.basis === 'tool') {
    throw failure('GrantInvalid', { message: `${name} needs an approval, and nobody gave one.` });
  }
  const unproven = await objectionToSignatures(deps, { run, call, grant }, tool.record);
  if (unproven !== undefined) return { ...refused('permission_denied', unproven), unproven };
  if (tool.record.sandbox === 'required' && grant.sandbox !== true) {
    throw failure('GrantInvalid', { message: `${name} may run in its sandbox only.` });
  }
  const code = grant.sandbox === true ? tool.sandboxRun : tool.run;
  if (code === undefined) return refused('permission_denied', `${name} cannot run in a sandbox.`);
  const restored = await deps.store.restoreArguments(run.tenant, args);
  const parsed = tool.parse(restored);
  if (!parsed.ok) return refused('invalid_arguments', parsed.message);
  if (canonicalJson(parsed.value) !== canonicalJson(restored)) {
    const message = `The input schema of ${name} would change these arguments after they were agreed to.`;
    return refused('invalid_arguments', message);
  }
  return { ok: true, runnable: { tool: { ...tool, run: code }, input: parsed.value } };
}

export function toolFor(
  { config }: Pick<InTransaction, 'config'>,
  call: ToolCallRef,
): Tool | undefined {
  return config.tools.get(toolKey({ name: call.tool, version: call.toolVersion }));
}

export interface ContextFacts extends Pick<ActivityDeps, 'isolation' | 'clock'> {
  readonly store: Store;
  readonly run: RunRef;
  readonly call: ToolCallRef;
  readonly attempt: number;
  /** Absent: nothing is counted. */
  readonly meter?: Meter;
}

export function toolContext(facts: ContextFacts, signal: AbortSignal): ToolContext {
  const { run, call, attempt, meter, isolation, clock } = facts;
  const within = { store: facts.store, ...(isolation && { isolation }), ...(clock && { clock }) };
  return {
    runId: run.runId,
    tenant: run.tenant,
    callId: call.callId,
    idempotencyKey: call.key,
    attempt,
    traceId: run.traceId,
    signal,
    cost: (microUsd) => meter?.add(microUsd),
    sandbox: sandboxOf(within, { run, call, signal }),
  };
}

function refused(code: Extract<ToolOutcome, { kind: 'error' }>['code'], message: string) {
  return { ok: false, outcome: { kind: 'error', code, message } } as const;
}

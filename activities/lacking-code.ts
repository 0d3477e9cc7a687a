/**
 * Code that this worker lacks: the delivery is refused before it reaches anything, and another worker may take the
 * next one (G118).
 * Invariants: nothing is claimed before the code is there; what is waited for ends after the time that the run allows,
 * and then fails as if nobody had it; another schema of a tool is used only when nobody has served the wanted one for
 * a while (G110).
 */
import type { ApplicationFailure } from '@temporalio/common';
import type { Tool } from '../authoring/index.js';
import { toolKey } from '../core/state/tool.js';
import type { CheckCallInput, ExecuteToolInput } from '../core/state/effect.js';
import type { CodeNames } from '../store/served.js';
import { now, type ActivityDeps, type InTransaction } from './deps.js';
import { failure } from './failure.js';
import type { Scope } from './scope.js';
import { codeOf } from './tool/code-of.js';

/** So long nobody must have served the wanted schema of a tool, before another one takes its place; ms. */
const SCHEMA_GONE_MS = 60_000;
/** A model's provider that no worker has had for so long was never there, or is gone for good; ms. */
const PROVIDER_GONE_MS = 600_000;
const WORKERS_MAX = 1_000;

export interface MissingCode {
  readonly part: 'agent' | 'tool' | 'hook' | 'provider';
  readonly name: string;
  readonly unservedMs: number;
  /** What could be done about it, beside a worker that has it. */
  readonly hint?: string;
}

/** The refusal of this delivery; undefined: it was waited for as long as the run allows. */
export function refusalFor(
  deps: Pick<ActivityDeps, 'clock'>,
  { work }: Pick<Scope, 'work'>,
  { part, name, unservedMs, hint }: MissingCode,
): ApplicationFailure | undefined {
  const leftMs = unservedMs - (now(deps) - work.lackingSince('code'));
  if (leftMs <= 0) return undefined;
  const message = `This worker does not have the ${part} ${name}; the run waits for one that has.`;
  return failure('NotServed', {
    message: hint === undefined ? message : `${message} ${hint}`,
    details: { [part]: name },
    // Not later than that its time is over.
    retryAfterMs: leftMs,
  });
}

type ToolWanted = Pick<ExecuteToolInput, 'schemaHash' | 'unservedMs'> &
  Pick<CheckCallInput, 'tool' | 'toolVersion'>;

export type Code =
  | { readonly kind: 'here'; readonly tool: Tool }
  /** Nobody serves the wanted schema, and this worker another one. */
  | { readonly kind: 'changed'; readonly tool: Tool; readonly schemaHash: string }
  | { readonly kind: 'elsewhere'; readonly refusal: ApplicationFailure }
  /** It is not waited for, or was long enough. */
  | { readonly kind: 'nowhere' };

/** The code of a tool, or what its lack means for this delivery. */
export async function findCode(
  deps: InTransaction,
  scope: Pick<Scope, 'work'>,
  wanted: ToolWanted,
): Promise<Code> {
  const { tool: name, toolVersion: version, schemaHash, unservedMs } = wanted;
  const key = toolKey({ name, version });
  const tool = codeOf(deps.config, { name, version });
  if (tool !== undefined && (schemaHash === undefined || tool.record.schemaHash === schemaHash))
    return { kind: 'here', tool };
  if (schemaHash === undefined || unservedMs === undefined) return { kind: 'nowhere' };
  const goneMs = Math.min(SCHEMA_GONE_MS, unservedMs);
  const waitedMs = now(deps) - scope.work.lackingSince('code');
  if (tool !== undefined && waitedMs >= goneMs) {
    const lately = await servedLately(deps, goneMs);
    const wantedCode = `${key}#${schemaHash}`;
    if (!lately.some(({ tools, incomplete }) => incomplete || tools.includes(wantedCode)))
      return { kind: 'changed', tool, schemaHash: tool.record.schemaHash };
  }
  const refusal = refusalFor(deps, scope, { part: 'tool', name: key, unservedMs });
  return refusal === undefined ? { kind: 'nowhere' } : { kind: 'elsewhere', refusal };
}

/** Why the model is not asked here; undefined: no other worker has had its provider lately, so that waiting is no use. */
export async function providerElsewhere(
  deps: InTransaction,
  scope: Pick<Scope, 'work'>,
  {
    name,
    unservedMs,
    hint,
  }: Omit<MissingCode, 'part' | 'unservedMs'> & { readonly unservedMs: number | undefined },
): Promise<ApplicationFailure | undefined> {
  if (unservedMs === undefined) return undefined;
  const lately = await servedLately(deps, PROVIDER_GONE_MS);
  if (!lately.some(({ providers, incomplete }) => incomplete || providers.includes(name)))
    return undefined;
  return refusalFor(deps, scope, { part: 'provider', name, unservedMs, ...(hint && { hint }) });
}

async function servedLately(
  { serving, store }: InTransaction,
  withinMs: number,
): Promise<readonly CodeNames[]> {
  if (serving === undefined) return [];
  const workers = await store.listServed({ ...serving, withinMs, limit: WORKERS_MAX });
  return workers.map(({ code }) => code);
}

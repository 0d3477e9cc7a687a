/**
 * Effects that people decided on, in the audit trail: what was executed, on whose word, and how it ended; and
 * those that people would have decided on, had a rule or a setting not allowed them.
 * Calls of other tools are in the ledger and in the events of their run.
 * Invariant: what the ledger learns of such an effect is in the trail by the same commit, whoever told it: the
 * tool, its probe, a person, or that nobody could be asked any more.
 */
import { needsApproval } from '../../core/permission/permission.js';
import type { AuditEntry, AuditKind } from '../../pure/audit.js';
import type { ExecuteToolInput, ToolOutcome } from '../../core/state/effect.js';
import type { Json } from '../../core/json/json.js';
import { toolKey } from '../../core/state/tool.js';
import { now, type InTransaction } from '../deps.js';

type Granted = Pick<ExecuteToolInput, 'run' | 'call' | 'grant'>;

/** In the transaction of the claim: what starts is on record before it starts. */
export function auditStart(deps: InTransaction, granted: Granted): Promise<void> {
  return append(deps, granted, { kind: 'effect_started', facts: {} });
}

/** Whether the trail follows this effect. */
export function isAudited(
  deps: Pick<InTransaction, 'config'>,
  granted: Pick<Granted, 'call' | 'grant'>,
): boolean {
  return granted.grant.basis === 'ask' || isWaived(deps, granted);
}

/** In the transaction of what the ledger learns. */
export function auditEnd(
  deps: InTransaction,
  granted: Granted,
  outcome: ToolOutcome,
): Promise<void> {
  const facts = {
    outcome: outcome.kind,
    ...(outcome.kind === 'error' && { code: outcome.code }),
    toldBy: 'tool',
  };
  return append(deps, granted, { kind: 'effect_ended', facts });
}

export interface Finding {
  readonly outcome: ToolOutcome['kind'] | 'not_happened';
  readonly toldBy: 'probe' | 'person' | 'nobody';
}

/** The same of an effect whose execution has gone. What the trail knows for certain stands. */
export async function auditFinding(
  deps: InTransaction,
  { run, call }: Omit<Granted, 'grant'>,
  finding: Finding,
): Promise<void> {
  const { key, digest: argsHash, attempt } = call;
  const { runId } = run;
  const last = await deps.store.lastOnEffect(run.tenant, { runId, key, argsHash, attempt });
  const before = last?.kind === 'effect_ended' ? last.facts.outcome : 'ambiguous';
  if (last === undefined || before !== 'ambiguous') return;
  if (last.kind === 'effect_ended' && finding.outcome === 'ambiguous') return;
  const { askId, facts } = last;
  const entry: AuditEntry = {
    at: now(deps),
    kind: 'effect_ended',
    runId,
    ...(askId !== undefined && { askId }),
    facts: { ...facts, ...finding },
  };
  await deps.store.appendAudit(run.tenant, [entry]);
}

export function auditRefusal(deps: InTransaction, granted: Granted, reason: string): Promise<void> {
  return append(deps, granted, { kind: 'effect_refused', facts: { reason } });
}

interface Told {
  readonly kind: AuditKind;
  readonly facts: { readonly [name: string]: Json };
}

async function append(
  deps: InTransaction,
  { run, call, grant }: Granted,
  { kind, facts }: Told,
): Promise<void> {
  const asked = grant.basis === 'ask';
  if (!isAudited(deps, { call, grant })) return;
  const entry: AuditEntry = {
    at: now(deps),
    kind,
    runId: run.runId,
    ...(asked && { askId: grant.reference.replace(/^grant:/, '') }),
    facts: {
      ...(!asked && { basis: grant.basis, rule: grant.reference }),
      tool: call.tool,
      toolVersion: call.toolVersion,
      key: call.key,
      argsHash: call.digest,
      attempt: call.attempt,
      approvedBy: grant.approvedBy,
      policyVersion: grant.policyVersion,
      ...facts,
    },
  };
  await deps.store.appendAudit(run.tenant, [entry]);
}

/** The tool would have a person asked, and something else allowed the call. */
function isWaived(
  { config }: Pick<InTransaction, 'config'>,
  { call, grant }: Pick<Granted, 'call' | 'grant'>,
) {
  const tool = config.tools.get(toolKey({ name: call.tool, version: call.toolVersion }));
  return grant.basis === 'policy' && tool !== undefined && needsApproval(tool.record);
}

/**
 * Station 4: the permission (call/permission.ts), told and acted on.
 * Invariants: a permission event precedes every execution (PA-01); whoever allows a call that needs an
 * approval gives that approval in their own name, on record (PA-10).
 */
import { useGrant } from '../permission/grants.js';
import type { Effect, Grant } from '../state/effect.js';
import { emit } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import type { ToolRecord } from '../state/tool.js';
import { baseOf, revisedKey, type Call, type CheckedStage } from '../state/call.js';
import { toolOf } from '../permission/offered-tools.js';
import {
  actionOf,
  evaluate,
  modeOf,
  needsApproval,
  type Permission,
} from '../permission/permission.js';
import { go, refuse, type Verdict } from '../step/station.js';

export function permit(run: OpenRun, call: CheckedStage): Verdict {
  const tool = toolOf(run, call.tool);
  if (tool === undefined) return refuse('unknown_tool', `The tool ${call.tool} is gone.`);
  const permission = evaluate(run, actionOf(tool, call));
  const { decision, reason } = permission;
  const told = emit(run, {
    type: 'permission',
    callId: call.id,
    tool: call.tool,
    decision,
    rule: permission.rule,
    ...(reason !== undefined && { reason }),
  });
  if (decision === 'ask') {
    return go(told, {
      ...baseOf(call),
      stage: 'waiting',
      askId: askIdOf(run, call),
      mode: modeOf(run),
      ...(call.hooked?.ask !== undefined && { hooked: call.hooked }),
      ...(call.outlook?.repeats !== undefined && { repeats: call.outlook.repeats }),
      ...(permission.sandbox && { sandbox: true }),
    });
  }
  if (decision === 'deny') {
    const message = reason ?? 'The policy denies it.';
    return { ...refuse('permission_denied', message, permission.terminal), run: told };
  }
  const approved = standsForApproval(tool, permission)
    ? approvedInAdvance(told, call, permission)
    : told;
  const grant: Grant = {
    basis: permission.basis,
    reference: permission.rule,
    digest: call.digest,
    policyVersion: run.frozen.policy.version,
    approvedBy: permission.approvedBy,
    ...(permission.signed !== undefined && { signed: permission.signed }),
    ...(decision === 'sandbox' && { sandbox: true }),
  };
  return go(approved, { ...baseOf(call), stage: 'granted', grant });
}

/** Somebody's word has taken the place of a person's answer. */
function standsForApproval(tool: ToolRecord, { basis, rule }: Permission): boolean {
  return needsApproval(tool) || basis === 'ask' || rule.startsWith('mode:');
}

/** Id of the question whether a call may run. */
export function askIdOf(run: OpenRun, call: Pick<Call, 'callKey' | 'revision'>): string {
  return `${run.runId}:${revisedKey(call)}`;
}

/** The record of an approval that nobody had to be asked for. */
function approvedInAdvance(run: OpenRun, call: Call, permission: Permission): OpenRun {
  const { rule, basis, approvedBy } = permission;
  const granted = basis === 'ask';
  const used = granted ? useGrant(run, rule.slice('grant:'.length)) : run;
  return emit(used, {
    type: 'approval_resolved',
    askId: askIdOf(run, call),
    callId: call.id,
    tool: call.tool,
    outcome: 'approved',
    by: approvedBy,
    ...(granted && { reason: rule }),
    waitedMs: 0,
  });
}

/** A call whose question is closed, for the permission that counts now; its hooks have had their say. */
export function permitAnew(run: OpenRun, call: CheckedStage, effects: readonly Effect[]): Verdict {
  const verdict = permit(run, call);
  return verdict.kind === 'go' || verdict.kind === 'refuse' ? { ...verdict, effects } : verdict;
}

/**
 * Station 4: policy. The first matching rule decides; without one the tool record does (G89).
 * Invariants: a permission event precedes every execution (PA-01); `allow` for a tool that needs approval
 * gives that approval in the policy's name.
 */
import { emit } from '../outbox.js';
import { matchRule } from '../policy.js';
import type { OpenRun } from '../run.js';
import type { ToolRecord } from '../tool.js';
import type { Grant } from '../effect.js';
import { baseOf, revisedKey, type CheckedStage } from './call.js';
import { toolOf } from './lookup.js';
import { go, refuse, type Verdict } from './station.js';

interface Permission {
  readonly decision: 'allow' | 'deny' | 'ask';
  readonly rule: string;
  readonly basis: 'policy' | 'tool';
  readonly reason?: string;
  readonly terminal: boolean;
}

export function permit(run: OpenRun, call: CheckedStage): Verdict {
  const tool = toolOf(run, call.tool);
  if (tool === undefined) return refuse('unknown_tool', `The tool ${call.tool} is gone.`);
  const permission = asHooksWant(call, evaluate(run, call, tool));
  const permitted = emit(run, {
    type: 'permission',
    callId: call.id,
    tool: call.tool,
    decision: permission.decision,
    rule: permission.rule,
    ...(permission.reason !== undefined && { reason: permission.reason }),
  });
  if (permission.decision === 'ask') {
    const askId = `${run.runId}:${revisedKey(call)}`;
    return go(permitted, { ...baseOf(call), stage: 'waiting', askId });
  }
  if (permission.decision === 'deny') {
    const reason = permission.reason ?? 'The policy denies it.';
    return { ...refuse('permission_denied', reason, permission.terminal), run: permitted };
  }
  const grant: Grant = {
    basis: permission.basis,
    reference: permission.rule,
    digest: call.digest,
    policyVersion: run.frozen.policy.version,
    approvedBy: permission.basis === 'policy' ? [`policy:${run.frozen.policy.version}`] : [],
  };
  return go(permitted, { ...baseOf(call), stage: 'granted', grant });
}

/** A hook may want a person where the policy does not; never the other way round. */
function asHooksWant({ hooked }: CheckedStage, permission: Permission): Permission {
  const ask = hooked?.ask;
  if (ask === undefined || permission.decision !== 'allow') return permission;
  return {
    decision: 'ask',
    rule: `hook:${ask.hook}`,
    basis: permission.basis,
    terminal: false,
    ...(ask.reason !== undefined && { reason: ask.reason }),
  };
}

function evaluate(run: OpenRun, call: CheckedStage, tool: ToolRecord): Permission {
  const { policy } = run.frozen;
  const match = matchRule(policy, call.tool, call.args);
  if (match !== undefined) {
    const { decision, reason, terminal = false } = match.rule;
    return {
      decision,
      rule: `policy:${policy.version}:${match.index}`,
      basis: 'policy',
      terminal,
      ...(reason !== undefined && { reason }),
    };
  }
  const asks = typeof tool.approval === 'object' || tool.effect === 'unknown';
  return { decision: asks ? 'ask' : 'allow', rule: 'tool', basis: 'tool', terminal: false };
}

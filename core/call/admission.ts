/**
 * The stations of a call before anybody is asked: lookup, check, hook, permission (C19).
 * Invariants:
 *  - visible = manifest ∩ allowedActions − disallowedTools − forbiddenActions; deny beats allow, and `allowedTools` hides
 *    nothing (C48).
 *  - Input that a hook changed is checked before anything else looks at it. A hook narrows, never widens.
 *  - A permission event precedes every execution; whoever allows a call that needs an approval gives that
 *    approval in their own name, on record.
 *  - Calls that have not begun when a run wraps up never begin (C42).
 */
import { only } from '../step/inflight.js';
import { closeAsk } from '../ask/open-ask.js';
import { hooksFor, startHooks } from '../hooks/start.js';
import { useGrant } from '../permission/grants.js';
import {
  toolOf,
  visibleTools,
  actionOf,
  evaluate,
  modeOf,
  needsApproval,
  type Permission,
} from '../permission/permission.js';
import {
  type Call,
  type CheckedStage,
  type HookedStage,
  type ProposedStage,
} from '../state/call.js';
import type { Effect, Grant } from '../state/effect.js';
import type { CallCheck } from '../state/model.js';
import { type OpenRun, type Step, hasHooks } from '../state/run.js';
import type { ToolRecord } from '../state/tool.js';
import { refusalOf } from './refusal.js';
import {
  go,
  refuse,
  type StationResult,
  withCall,
  baseOf,
  revisedKey,
  withOutlook,
} from '../step/open-work.js';
import { emit } from '../step/outbox.js';
import { startCheck, tellLeftOut } from './argument-check.js';
import { beyondLimits, refuseBeyondLimits } from './beyond-limits.js';
import { handOverRefusal, isHandOver } from './hand-over.js';
import { NOT_BEGUN, openAskOf } from './not-begun.js';
import { settleCall } from './result.js';

export function lookup(run: OpenRun, call: ProposedStage): StationResult {
  const { forbiddenActions = [] } = run.start.task;
  if (forbiddenActions.includes(call.tool)) {
    return refuse('tool_not_allowed', `The tool ${call.tool} is forbidden in this task.`, true);
  }
  const tool = toolOf(run, call.tool);
  if (tool === undefined && !call.check.ok && call.check.code === 'unknown_tool') {
    return refuse('unknown_tool', call.check.message);
  }
  if (tool === undefined || !visibleTools(run).includes(tool)) {
    return refuse('tool_not_allowed', `The tool ${call.tool} is not available in this task.`);
  }
  if (tool.kind === 'hosted') {
    return refuse(
      'unknown_tool',
      `${call.tool} is run by the model's vendor; it cannot be called.`,
    );
  }
  return go(run, call);
}

export function check(run: OpenRun, call: ProposedStage): StationResult {
  const { tool, toolVersion, args } = call;
  if (!call.check.ok) return refuseUnchecked(run, call, call.check);
  if (call.check.unchecked) {
    const target = { tool, toolVersion };
    return {
      kind: 'moved',
      step: startCheck(run, call, { asker: { kind: 'code' }, target, args }),
    };
  }
  const refused = run.frozen.handoffTo && handOverRefusal(run, call);
  if (refused !== undefined) return refused;
  const told = call.check.leftOut === undefined ? run : tellLeftOut(run, call, call.check);
  const validated = emit(told, {
    type: 'validation',
    decision: escalates(run, call) ? 'escalate' : 'execute',
    callId: call.id,
    tool: call.tool,
  });
  return go(validated, { ...withOutlook(call, call.check), stage: 'checked' });
}

function escalates(run: OpenRun, call: Call): boolean {
  return toolOf(run, call.tool)?.kind === 'handoff' && !isHandOver(run, call);
}

/** Arguments that are not good, or that nobody could look at. */
export function refuseUnchecked(
  run: OpenRun,
  call: Call,
  check: Extract<CallCheck, { ok: false }>,
): StationResult {
  const { code, message } = check;
  if (code !== 'tool_unavailable') return refuse('invalid_arguments', message);
  const settled = settleCall(run, call, refusalOf(run, call, { code, message }));
  return { kind: 'moved', step: only(settled) };
}

export function hook(run: OpenRun, call: CheckedStage): StationResult {
  if (call.hooked !== undefined || !hasHooks(run, 'PreToolUse')) return go(run, call);
  const errand = { point: 'PreToolUse', callId: call.id, tool: call.tool } as const;
  if (hooksFor(run, errand).length === 0) return go(run, call);
  const payload = { tool_name: call.tool, tool_input: call.args, call_id: call.id };
  const asking = withCall(run, { ...baseOf(call), stage: 'hooking' });
  return { kind: 'moved', step: startHooks(asking, errand, payload) };
}

/** Its hooks have spoken. */
export function heed(run: OpenRun, call: HookedStage): StationResult {
  const { denied, ask, updatedInput } = call.opinion;
  if (denied !== undefined) return refuse('hook_denied', denied);
  const hooked = ask === undefined ? {} : { ask };
  if (updatedInput === undefined) return go(run, { ...baseOf(call), stage: 'checked', hooked });
  const { tool, toolVersion } = call;
  const target = { tool, toolVersion };
  const asker = { kind: 'hook', ...hooked } as const;
  return { kind: 'moved', step: startCheck(run, call, { asker, target, args: updatedInput }) };
}

export function permit(run: OpenRun, call: CheckedStage): StationResult {
  const tool = toolOf(run, call.tool);
  if (tool === undefined) return refuse('unknown_tool', `The tool ${call.tool} is gone.`);
  const permission = evaluate(run, actionOf(tool, call));
  const { decision, reason } = permission;
  const isOver = decision === 'ask' && call.outlook?.limits?.exceeded === true;
  const beyond = isOver ? beyondLimits(run, call) : undefined;
  if (beyond !== undefined) return refuseBeyondLimits(run, call, beyond);
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
export function permitAnew(
  run: OpenRun,
  call: CheckedStage,
  effects: readonly Effect[],
): StationResult {
  const verdict = permit(run, call);
  switch (verdict.kind) {
    case 'go':
    case 'refuse':
      return { ...verdict, effects };
    case 'moved':
      return { kind: 'moved', step: after(effects, verdict.step) };
    case 'wait':
      return verdict;
  }
}

function after(effects: readonly Effect[], step: Step<OpenRun>): Step<OpenRun> {
  return { run: step.run, effects: [...effects, ...step.effects] };
}

/** What has not begun when the wrap-up does never begins; nobody is asked about it either. */
export function leaveOut(run: OpenRun, call: Call): Step<OpenRun> | undefined {
  if (run.wrapUp === undefined || !NOT_BEGUN.includes(call.stage)) return undefined;
  const message = 'Not executed: a budget of this run is used up.';
  const askId = openAskOf(run, call);
  const closed =
    askId === undefined
      ? only(run)
      : closeAsk(run, askId, { outcome: 'withdrawn', reason: 'a budget is used up' });
  const refusal = refusalOf(closed.run, call, { code: 'budget_exceeded', message });
  return { run: settleCall(closed.run, call, refusal), effects: closed.effects };
}

/**
 * Station 5: a person's word. Opens the question when the call is ready to run and waits for its
 * outcome.
 * Invariants: the grant carries the ask, the exact digest and who approved; a question that a new
 * permission mode makes needless is withdrawn (G14).
 */
import { only } from '../step/inflight.js';
import type { Ask } from '../state/ask.js';
import { datedBy, objectionToPerson } from '../ask/decide.js';
import { isBeaten } from '../ask/held-words.js';
import { withGrantOf } from '../permission/grants.js';
import { askFrom, closeAsk, openAsk, type AskRequest } from '../ask/open-ask.js';
import { refusalOf } from './refusal.js';
import {
  askById,
  outcomeOf,
  viewOf,
  withCall,
  type StationResult,
  baseOf,
  cardOf,
} from '../step/open-work.js';
import { signaturesOf } from '../ask/verify.js';
import { repeatQuestion } from '../controls/repeats.js';
import { follows } from '../step/changes.js';
import type { Grant } from '../state/effect.js';
import { emit } from '../step/outbox.js';
import type { OpenRun, Step } from '../state/run.js';
import { stop } from '../step/stop.js';
import type { ApprovalRule } from '../state/tool.js';
import { type WaitingStage } from '../state/call.js';
import { checkCorrection, yieldToRejection } from './correct.js';
import { toolOf, actionOf, evaluate, modeOf } from '../permission/permission.js';
import { permitAnew } from './admission.js';
import { settleCall } from './result.js';

export function approve(run: OpenRun, call: WaitingStage): StationResult {
  const ask = askById(run, call.askId);
  if (ask === undefined) return { kind: 'moved', step: question(run, call) };
  if (ask.correction !== undefined) {
    return isBeaten(ask.correction)
      ? { kind: 'moved', step: only(yieldToRejection(run, ask)) }
      : { kind: 'moved', step: checkCorrection(run, call, ask.correction) };
  }
  if (call.mode !== modeOf(run) || call.above !== run.modesAbove?.join())
    return underNewMode(run, call, ask);
  switch (outcomeOf(ask)) {
    case 'pending':
      return { kind: 'wait' };
    case 'approved':
      return granted(run, call, ask);
    case 'expired':
      return expired(run, call, ask);
    default:
      return rejected(run, call, ask);
  }
}

function question(run: OpenRun, call: WaitingStage): Step<OpenRun> {
  const rule = requestOf(run, call);
  const votes = (call.votes ?? []).filter(
    (vote) => objectionToPerson(rule, datedBy(run, { decision: vote, at: run.now })) === undefined,
  );
  const request = { ...rule, votes };
  return run.frozen.settings.approvalMode === 'stop'
    ? only(stopForApproval(run, askFrom(run, request)))
    : openAsk(run, request);
}

function requestOf(run: OpenRun, call: WaitingStage): AskRequest {
  const tool = toolOf(run, call.tool);
  const rule: ApprovalRule =
    typeof tool?.approval === 'object' ? tool.approval : { roles: [], quorum: 1 };
  const { settings } = run.frozen;
  const { caller } = run.start.task;
  return {
    id: call.askId,
    kind: 'approval',
    callKey: call.callKey,
    callId: call.id,
    tool: call.tool,
    toolVersion: call.toolVersion,
    args: call.args,
    ...(call.repeats !== undefined && {
      question: repeatQuestion(call.tool, call.repeats, follows(run, 'doubtfulRepeats')),
      repeats: call.repeats,
    }),
    ...(call.outlook?.limits !== undefined && { limits: call.outlook.limits }),
    ...cardOf(run, tool),
    digest: call.digest,
    roles: rule.roles,
    quorum: rule.quorum,
    ...(caller !== undefined && { requestedBy: caller }),
    expiresInMs: rule.expiresInMs ?? settings.approvalTimeoutMs,
    onExpiry: rule.onExpiry ?? settings.onApprovalTimeout,
    ...(rule.escalate !== undefined && {
      escalation: {
        at: call.escalatesAt ?? run.now + rule.escalate.afterMs,
        roles: rule.escalate.roles,
      },
    }),
  };
}

/** `approvalMode: 'stop'`: nobody is waited for; the result says what needed a word (C15). */
function stopForApproval(run: OpenRun, ask: Ask): OpenRun {
  const pendingApproval = viewOf(ask);
  const asked = emit(run, { type: 'approval_requested', ...pendingApproval });
  const withdrawn = emit(asked, {
    type: 'approval_withdrawn',
    askId: ask.id,
    ...(ask.callId !== undefined && { callId: ask.callId }),
    reason: 'this run does not wait for approvals',
  });
  return stop(withdrawn, 'needs_human', {
    detail: 'approval_required',
    nextSafeAction: `Decide whether ${ask.tool ?? 'the action'} should run, then start again.`,
    pendingApproval,
  });
}

/** The mode has changed: does the call still need this question, or may it never run at all? */
function underNewMode(run: OpenRun, call: WaitingStage, ask: Ask): StationResult {
  const tool = toolOf(run, call.tool);
  const now = tool && evaluate(run, actionOf(tool, call)).decision;
  const decided = outcomeOf(ask) !== 'pending';
  // No mode says whether something is to be done twice; where nobody may be asked it is not.
  const stays = call.repeats !== undefined && now !== 'deny' && modeOf(run) !== 'dontAsk';
  // What a person has decided stands, unless the mode forbids what they allowed.
  if (stays || now === 'ask' || (decided && now !== 'deny')) {
    const above = run.modesAbove !== undefined && { above: run.modesAbove.join() };
    const kept = withCall(run, { ...call, mode: modeOf(run), ...above });
    return { kind: 'moved', step: only(kept) };
  }
  const reason =
    call.mode === modeOf(run)
      ? `the permission modes above are now ${run.modesAbove?.join(', ') ?? ''}`
      : `the permission mode is now ${modeOf(run)}`;
  const { run: asked, effects } = closeAsk(run, ask.id, { outcome: 'withdrawn', reason });
  const { hooked = {} } = call;
  return permitAnew(asked, { ...baseOf(call), stage: 'checked', hooked }, effects);
}

function granted(run: OpenRun, call: WaitingStage, ask: Ask): StationResult {
  const closed = closeAsk(run, ask.id, { outcome: 'approved' });
  const sandbox = call.sandbox === true || toolOf(run, call.tool)?.sandbox === 'required';
  const grant: Grant = {
    basis: 'ask',
    reference: ask.id,
    digest: ask.digest,
    policyVersion: ask.policyVersion,
    approvedBy: ask.votes.map((vote) => vote.by),
    ...(run.frozen.settings.requireProof && { signed: signaturesOf(ask) }),
    ...(sandbox && { sandbox: true }),
    ...(call.repeats !== undefined && { repeats: call.repeats.earlier.map(({ key }) => key) }),
  };
  const grants = ask.votes.some((vote) => vote.grant !== undefined);
  const kept = grants ? withGrantOf(closed.run, ask) : closed.run;
  const next = withCall(kept, { ...baseOf(call), stage: 'granted', grant });
  return { kind: 'moved', step: { run: next, effects: closed.effects } };
}

function rejected(run: OpenRun, call: WaitingStage, ask: Ask): StationResult {
  const { reason, interrupt } = ask.votes.find((vote) => vote.decision === 'reject') ?? {};
  const closed = closeAsk(run, ask.id, {
    outcome: 'rejected',
    ...(reason !== undefined && { reason }),
  });
  const message = `The approval was rejected${reason === undefined ? '.' : `: ${reason}`}`;
  const refusal = refusalOf(run, call, { code: 'approval_rejected', message });
  const settled = settleCall(closed.run, call, refusal);
  const next: OpenRun = interrupt ? { ...settled, interrupt: 'interrupt' } : settled;
  return { kind: 'moved', step: { run: next, effects: closed.effects } };
}

function expired(run: OpenRun, call: WaitingStage, ask: Ask): StationResult {
  const closed = closeAsk(run, ask.id, { outcome: 'expired' });
  const text = 'Nobody decided on the approval in time.';
  const settled = settleCall(
    closed.run,
    call,
    refusalOf(run, call, { code: 'approval_expired', message: text }),
  );
  const next =
    ask.onExpiry === 'stop'
      ? stop(settled, 'needs_human', {
          detail: 'approval_timeout',
          nextSafeAction: `Decide whether ${call.tool} should run, then start again.`,
        })
      : settled;
  return { kind: 'moved', step: { run: next, effects: closed.effects } };
}

/**
 * Station 5: a person's word. Opens the question when the call is ready to run (PA-20) and waits for its
 * outcome.
 * Invariant: the grant carries the ask, the exact digest and who approved.
 */
import { closeAsk, openAsk } from '../ask/open-ask.js';
import { outcomeOf } from '../ask/decide.js';
import { askById } from '../ask/pending.js';
import type { Ask } from '../ask/ask.js';
import type { Grant } from '../effect.js';
import type { Step } from '../inflight.js';
import type { OpenRun } from '../run.js';
import { stop } from '../stop.js';
import { baseOf, type WaitingStage } from './call.js';
import { toolOf } from './lookup.js';
import { settleCall } from './settled.js';
import { refusalOf } from './refusal.js';
import { withCall, type Verdict } from './station.js';

export function approve(run: OpenRun, call: WaitingStage): Verdict {
  const ask = askById(run, call.askId);
  if (ask === undefined) return { kind: 'moved', step: question(run, call) };
  const outcome = outcomeOf(ask);
  if (outcome === 'pending') return { kind: 'wait' };
  if (outcome === 'approved') return granted(run, call, ask);
  if (outcome === 'expired') return expired(run, call, ask);
  const reason = ask.votes.find((vote) => vote.decision === 'reject')?.reason;
  const closed = closeAsk(run, ask.id, {
    outcome: 'rejected',
    ...(reason !== undefined && { reason }),
  });
  const text = `The approval was rejected${reason === undefined ? '.' : `: ${reason}`}`;
  return {
    kind: 'moved',
    step: {
      run: settleCall(
        closed.run,
        call,
        refusalOf(run, call, { code: 'approval_rejected', message: text }),
      ),
      effects: closed.effects,
    },
  };
}

function question(run: OpenRun, call: WaitingStage): Step<OpenRun> {
  const tool = toolOf(run, call.tool);
  const rule = typeof tool?.approval === 'object' ? tool.approval : { roles: [], quorum: 1 };
  const { settings } = run.frozen;
  const { caller } = run.start.task;
  return openAsk(run, {
    id: call.askId,
    kind: 'approval',
    callKey: call.callKey,
    callId: call.id,
    tool: call.tool,
    toolVersion: call.toolVersion,
    args: call.args,
    digest: call.digest,
    roles: rule.roles,
    quorum: rule.quorum,
    ...(caller !== undefined && { requestedBy: caller }),
    expiresInMs: rule.expiresInMs ?? settings.approvalTimeoutMs,
    onExpiry: rule.onExpiry ?? settings.onApprovalTimeout,
  });
}

function granted(run: OpenRun, call: WaitingStage, ask: Ask): Verdict {
  const closed = closeAsk(run, ask.id, { outcome: 'approved' });
  const grant: Grant = {
    basis: 'ask',
    reference: ask.id,
    digest: ask.digest,
    policyVersion: ask.policyVersion,
    approvedBy: ask.votes.map((vote) => vote.by),
  };
  const next = withCall(closed.run, { ...baseOf(call), stage: 'granted', grant });
  return { kind: 'moved', step: { run: next, effects: closed.effects } };
}

function expired(run: OpenRun, call: WaitingStage, ask: Ask): Verdict {
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

/** The record of approvals, put together from events, and its judge. */
import type { Json } from '../../core/json/json.js';
import { approvalOf } from '../../authoring/approval.js';
import type { RunEvent } from '../../core/state/event.js';
import type { CaseTool, Expected } from '../fixture.js';
import { difference, isSame, NO_DIFFERENCE, type Difference } from './difference.js';
import type { Seen } from './seen.js';
import { ofType } from './trail.js';

export interface ApprovalRecord {
  readonly call: string;
  readonly tool: string;
  /** What was decided about, and after a correction also what it was corrected to. */
  readonly args: readonly Json[];
  readonly tools: readonly string[];
  /** Absent while nobody has decided. */
  readonly decision?: string;
  /** People, or `policy:<version>`. */
  readonly decidedBy: readonly string[];
  readonly outcome: string;
}

type WantedApproval = NonNullable<Expected['approvals']>[number];

/** In this order, each a subset of its record; an empty list means that nobody was asked anything. */
export function judgeApprovals(
  wanted: readonly WantedApproval[],
  seen: Seen,
): readonly Difference[] {
  const records = approvalsOf(seen);
  if (wanted.length === 0 && records.length > 0) {
    return difference('approvals', 'none', records.map(shown));
  }
  let from = 0;
  for (const [index, approval] of wanted.entries()) {
    const match = records.findIndex((record, place) => place >= from && fits(approval, record));
    if (match < 0) {
      return difference(`approvals[${index}]`, approval as Json, records.slice(from).map(shown));
    }
    from = match + 1;
  }
  return NO_DIFFERENCE;
}

function fits(wanted: WantedApproval, record: ApprovalRecord): boolean {
  const { call, tool, args, decision, decidedBy, outcome } = wanted;
  return (
    (call === undefined || call === record.call) &&
    (tool === undefined || record.tools.includes(tool)) &&
    (args === undefined || record.args.some((one) => isSame(args as Json, one))) &&
    (decision === undefined || decision === record.decision) &&
    (decidedBy === undefined || record.decidedBy.some((by) => by.startsWith(decidedBy))) &&
    (outcome === undefined || outcome === record.outcome)
  );
}

function shown({ call, tool, args, decision, decidedBy, outcome }: ApprovalRecord): Json {
  return {
    call,
    tool,
    args: args[0] ?? null,
    ...(decision !== undefined && { decision }),
    decidedBy,
    outcome,
  };
}

/** One record per question, in the order in which they were asked, and one per approval by policy. */
export function approvalsOf(seen: Seen): readonly ApprovalRecord[] {
  const { events } = seen.trail;
  return events.flatMap((event, index): readonly ApprovalRecord[] => {
    const later = events.slice(index + 1);
    if (event.type === 'approval_requested') return [askedRecord(event, later)];
    if (event.type !== 'permission') return [];
    const byPolicy = policyRecord(event, seen);
    return byPolicy === undefined ? [] : [byPolicy];
  });
}

type Requested = Extract<RunEvent, { type: 'approval_requested' }>;
type Permission = Extract<RunEvent, { type: 'permission' }>;

const DECISIONS: { readonly [outcome: string]: string } = {
  approved: 'approve',
  rejected: 'reject',
  modified: 'modify',
  replaced: 'replace',
  expired: 'expired',
  withdrawn: 'withdrawn',
};

function askedRecord(requested: Requested, later: readonly RunEvent[]): ApprovalRecord {
  const { askId, callId = '', tool = '', args = null } = requested;
  const end = later.findIndex(
    (event) =>
      (event.type === 'approval_resolved' || event.type === 'approval_withdrawn') &&
      event.askId === askId,
  );
  const closing = later[end];
  const about = { call: callId, tool };
  if (closing?.type === 'approval_withdrawn') {
    const ended = { decision: 'withdrawn', outcome: 'withdrawn', decidedBy: [] };
    return { ...about, ...ended, args: [args], tools: [tool] };
  }
  if (closing?.type !== 'approval_resolved') {
    return { ...about, outcome: 'pending', decidedBy: [], args: [args], tools: [tool] };
  }
  const { outcome, by } = closing;
  const decision = DECISIONS[outcome];
  const corrected =
    outcome === 'modified' || outcome === 'replaced' ? correctionOf(callId, later.slice(end)) : [];
  return {
    ...about,
    ...(decision !== undefined && { decision }),
    outcome,
    decidedBy: by,
    args: [args, ...corrected.map((one) => one.args)],
    tools: [tool, ...corrected.map((one) => one.tool)],
  };
}

/** What a call was corrected to: the next time it is asked about or started says so. */
function correctionOf(
  callId: string,
  later: readonly RunEvent[],
): readonly { readonly tool: string; readonly args: Json }[] {
  for (const event of later) {
    if (event.type !== 'approval_requested' && event.type !== 'tool_started') continue;
    if (event.callId === callId) return [{ tool: event.tool ?? '', args: event.args ?? null }];
  }
  return [];
}

/** A policy that allows a tool which needs an approval has given it. */
function policyRecord(
  permission: Permission,
  { fixture, trail }: Seen,
): ApprovalRecord | undefined {
  const { callId, tool, decision, rule } = permission;
  const version = /^policy:[^:]*/.exec(rule)?.[0];
  const record = fixture.tools.get(tool);
  if (decision !== 'allow' || version === undefined || record === undefined) return undefined;
  if (!needsApproval(record)) return undefined;
  const started = ofType(trail.events, 'tool_started').find((event) => event.callId === callId);
  const proposed = ofType(trail.events, 'model_response')
    .flatMap((event) => event.calls)
    .find((call) => call.id === callId);
  return {
    call: callId,
    tool,
    args: [started?.args ?? proposed?.args ?? null],
    tools: [tool],
    decision: 'approve',
    decidedBy: [version],
    outcome: 'approved',
  };
}

function needsApproval({ name, approval, effect }: CaseTool): boolean {
  const rule = approval ?? approvalOf(name, effect, undefined);
  return rule !== 'never' && rule !== 'by_policy';
}

/**
 * A person's decision from what the case says of it: the id of the question and the hash of the arguments
 * are filled in unless they are given.
 * Invariant: all that it looks at are events, so that every engine fills in the same.
 */
import type { Decision } from '../../core/state/ask.js';
import type { GrantRequest } from '../../core/state/grant.js';
import type { AskKind } from '../../core/state/ask-kinds.js';
import { callDigest, type Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { ResolveApproval } from '../fixture.js';

const DEFAULT_PERSON = 'person';

export interface DecisionContext {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  /** ms since epoch, in the engine's time. */
  readonly now: number;
}

export function decisionOf(action: ResolveApproval, context: DecisionContext): Decision {
  const ask = askFor(action, context.events);
  const call = action.call ?? ask?.callId;
  const proposed = call === undefined ? undefined : proposedCall(call, context);
  const askId = action.approvalId ?? ask?.askId ?? proposed?.askId ?? `${context.runId}:${call}`;
  const { decision, reason, value, amount, args, tool, grant, interrupt } = action;
  return {
    v: 1,
    askId,
    argsHash: hashOf(action, ask, proposed),
    decision,
    by: action.by ?? DEFAULT_PERSON,
    roles: action.roles ?? ask?.roles ?? [],
    decidedAt: context.now,
    ...(reason !== undefined && { reason }),
    ...(value !== undefined && { value }),
    ...(amount !== undefined && { amount }),
    ...(args !== undefined && { args }),
    ...(tool !== undefined && { tool }),
    // Its form is judged where every decision's is (parseDecision).
    ...(grant !== undefined && { grant: grant as unknown as GrantRequest }),
    ...(interrupt !== undefined && { interrupt }),
  };
}

/** The question to `provideInput` for a call, or the last one that was asked about it; without a call that of the supervisor. */
export function inputAskFor(
  call: string | undefined,
  events: readonly RunEvent[],
): AskView | undefined {
  return newest(
    asksIn(events),
    (ask) => ask.callId === call && (call !== undefined || ask.kind === 'input'),
  );
}

const OUTCOME_DECISIONS: readonly string[] = ['happened', 'not_happened', 'stop'];

/** It answers whether something has happened, and no other question. */
export function isOutcomeWord(decision: ResolveApproval['decision']): boolean {
  return OUTCOME_DECISIONS.includes(decision);
}

/** The question that a decision is about: the one that is open, or was the last to be. */
export function askFor(
  action: ResolveApproval,
  events: readonly RunEvent[],
): (AskView & RunEvent) | undefined {
  const { approvalId, call, decision } = action;
  const asks = asksIn(events);
  if (approvalId !== undefined) return asks.find((ask) => ask.askId === approvalId);
  const kinds: readonly AskKind[] = isOutcomeWord(decision) ? ['outcome'] : ['approval', 'budget'];
  const fits = (ask: AskView): boolean =>
    kinds.includes(ask.kind) && (call === undefined || ask.callId === call);
  const closed = closedIn(events);
  return newest(asks, (ask) => fits(ask) && !closed.has(ask.askId)) ?? newest(asks, fits);
}

function newest<Ask extends AskView>(
  asks: readonly Ask[],
  fits: (ask: AskView) => boolean,
): Ask | undefined {
  return asks.findLast(fits);
}

function asksIn(events: readonly RunEvent[]): readonly (AskView & RunEvent)[] {
  return events.filter(
    (event) => event.type === 'approval_requested' || event.type === 'input_request',
  );
}

function closedIn(events: readonly RunEvent[]): ReadonlySet<string> {
  const ids = events.flatMap((event) => {
    switch (event.type) {
      case 'approval_resolved':
      case 'approval_withdrawn':
      case 'input_provided':
        return [event.askId];
      default:
        return [];
    }
  });
  return new Set(ids);
}

interface Proposed {
  readonly askId: string;
  readonly tool: string;
  readonly args: Json;
}

/** A call that nobody has asked about yet (G12). */
function proposedCall(callId: string, { runId, events }: DecisionContext): Proposed | undefined {
  for (const event of events.toReversed()) {
    if (event.type !== 'model_response') continue;
    const index = event.calls.findIndex((call) => call.id === callId);
    const call = event.calls[index];
    if (call === undefined) continue;
    const { step } = event.stamp;
    const key = event.calls.length === 1 ? `${step}` : `${step}:${index}`;
    return { askId: `${runId}:${key}`, tool: call.tool, args: call.args };
  }
  return undefined;
}

const TOOL_VERSION = '1';

function hashOf(
  { argsHashOf }: ResolveApproval,
  ask: AskView | undefined,
  proposed: Proposed | undefined,
): string {
  const tool = ask?.tool ?? proposed?.tool ?? '';
  const toolVersion = ask?.toolVersion ?? TOOL_VERSION;
  if (argsHashOf !== undefined) return callDigest({ tool, toolVersion, args: argsHashOf });
  if (ask !== undefined) return ask.argsHash;
  return callDigest({ tool, toolVersion, args: proposed?.args ?? {} });
}

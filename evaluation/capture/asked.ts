/** Questions to people in a record, and the decisions on them in the words of a case. */
import type { Decision } from '../../core/state/ask.js';
import type { RunEvent } from '../../core/state/event.js';
import type { WrittenAction } from '../format/during.js';

export type AskEvent = Extract<RunEvent, { readonly type: 'approval_requested' | 'input_request' }>;

type ClosingEvent = Extract<
  RunEvent,
  { readonly type: 'approval_resolved' | 'approval_withdrawn' | 'input_provided' }
>;

export function isClosing(event: RunEvent): event is ClosingEvent {
  const { type } = event;
  return type === 'approval_resolved' || type === 'approval_withdrawn' || type === 'input_provided';
}

export function decisionOf(
  decision: Decision,
  ask: AskEvent,
): NonNullable<WrittenAction['resolveApproval']> {
  const { by, roles, args, tool, reason, value, amount, grant, interrupt } = decision;
  const meant = ask.argsHash === decision.argsHash;
  return {
    decision: decision.decision,
    by,
    ...(roles.length > 0 && { roles: [...roles] }),
    ...(ask.callId !== undefined && { call: ask.callId }),
    ...(!meant && { argsHashOf: { captured: 'another action' } }),
    ...(args !== undefined && { args: args as { [key: string]: unknown } }),
    ...(tool !== undefined && { tool }),
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(value !== undefined && { value }),
    ...(amount !== undefined && { amount }),
    ...(grant !== undefined && { grant: grant as unknown as { [key: string]: unknown } }),
    ...(interrupt !== undefined && { interrupt }),
  };
}

export function asksIn(events: readonly RunEvent[]): readonly AskEvent[] {
  return events.filter(
    (event): event is AskEvent =>
      event.type === 'approval_requested' || event.type === 'input_request',
  );
}

/** What must hold of a run beyond its recording when things died around it. */
import type { RunEvent } from '../../core/state/event.js';
import type { Driven } from './drive-run.js';
import { TRIES_MAX, type FaultyCalls } from './tool-faults.js';
import type { Witness } from './witness.js';

export interface Recovered {
  readonly driven: Driven;
  /** All that the store has, read anew. */
  readonly stored: readonly RunEvent[];
  readonly witness: Witness;
  readonly calls: FaultyCalls;
}

export function checkRecovery(recovered: Recovered): readonly string[] {
  const { driven, stored, witness } = recovered;
  return [
    ...witness.missing(stored),
    ...missingEvents(stored),
    ...lostSignals(driven, stored),
    ...faultyCall(recovered),
  ];
}

function missingEvents(stored: readonly RunEvent[]): readonly string[] {
  const gap = stored.findIndex((event, seq) => event.stamp.seq !== seq);
  if (gap >= 0) return [`the store has no event ${gap}`];
  return stored.at(-1)?.type === 'run_result' ? [] : ['the store has no result'];
}

/** Whatever the server took must be found in what the run did. */
function lostSignals({ acknowledged }: Driven, stored: readonly RunEvent[]): readonly string[] {
  const approved = new Set(
    stored.flatMap((event) =>
      event.type === 'approval_resolved' && event.outcome === 'approved' ? [event.askId] : [],
    ),
  );
  const heard = stored.filter(({ type }) => type === 'user_message').length;
  const sent = acknowledged.messages.length;
  return [
    ...acknowledged.approvals
      .filter((askId) => !approved.has(askId))
      .map((askId) => `the approval of ${askId} was taken and lost`),
    ...(heard === sent ? [] : [`${sent} messages were taken, ${heard} were heard`]),
  ];
}

function faultyCall({ calls, stored }: Recovered): readonly string[] {
  const { plan } = calls;
  if (plan === undefined) return [];
  const tries = calls.tries();
  if (tries === 0) return [`the faulty call ${plan.callId} was never made`];
  if (plan.fault !== '503-forever') return [];
  const finished = stored.find(
    (event) => event.type === 'tool_finished' && event.callId === plan.callId,
  );
  const failed = finished?.type === 'tool_finished' && finished.status === 'error';
  return [
    ...(failed ? [] : [`the call ${plan.callId} never worked, and its result is no error`]),
    ...(tries <= TRIES_MAX ? [] : [`the call ${plan.callId} was tried ${tries} times`]),
  ];
}

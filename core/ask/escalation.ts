/**
 * Escalation: a question that nobody has decided for a while may be decided by others as well.
 * Invariants: it only adds people, and takes no vote away; from when on they count is a matter of when they
 * decide, not of when the timer fires (G95); it is told once, while the question is open.
 */
import { cancelTimer, startTimer, only } from '../step/inflight.js';
import { emit } from '../step/outbox.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import type { Ask, Escalation } from '../state/ask.js';
import { pendingAsks, replaceAsk } from '../step/open-work.js';

/** Starts the timer after that of the expiry, as `askFrom` has named it. */
export function watchEscalation(step: Step<OpenRun>, { kind, escalation }: Ask): Step<OpenRun> {
  if (escalation === undefined) return step;
  const timed = startTimer(step.run, { at: escalation.at, summary: `${kind} escalates` });
  return { run: timed.run, effects: [...step.effects, ...timed.effects] };
}

export function unwatchEscalation<R extends Run>(step: Step<R>, { escalation }: Ask): Step<R> {
  if (escalation === undefined) return step;
  const untimed = cancelTimer(step.run, escalation.timer);
  return { run: untimed.run, effects: [...step.effects, ...untimed.effects] };
}

/** Rule: says once of each open question that others may decide now. */
export function escalateAsks(run: OpenRun): Step<OpenRun> | undefined {
  const ask = pendingAsks(run).find((open) => open.escalation?.state === 'due');
  if (ask?.escalation === undefined) return undefined;
  const { id, callId, escalation } = ask;
  const told = emit(run, {
    type: 'approval_escalated',
    askId: id,
    ...(callId !== undefined && { callId }),
    roles: escalation.roles,
  });
  const next = replaceAsk(told, { ...ask, escalation: { ...escalation, state: 'told' } });
  return only(next);
}

/** The roles whose decisions count that are made at this moment; none: anybody's. */
export function rolesAt(
  { roles, escalation }: Pick<Ask, 'roles'> & { readonly escalation?: Escalation },
  decidedAt: number,
): readonly string[] {
  const others = escalation !== undefined && decidedAt >= escalation.at ? escalation.roles : [];
  return roles.length === 0 ? [] : [...roles, ...others];
}

/** Looking at a run's asks, and how the outside sees one. */
import type { AskView } from '../state/ask-view.js';
import type { Run } from '../state/run.js';
import type { Ask } from '../state/ask.js';

export function pendingAsks(run: Run): readonly Ask[] {
  return run.asks.filter((ask) => ask.outcome === 'pending');
}

export function askById(run: Run, askId: string): Ask | undefined {
  return run.asks.find((ask) => ask.id === askId);
}

export function replaceAsk<R extends Run>(run: R, ask: Ask): R {
  return { ...run, asks: run.asks.map((other) => (other.id === ask.id ? ask : other)) };
}

/** Closed asks that a late answer is told about. */
const CLOSED_ASKS_MAX = 50;

/** Forgets these asks, but for how they ended; open ones stay. */
export function retireAsks<R extends Run>(run: R, which: (ask: Ask) => boolean): R {
  const gone = run.asks.filter((ask) => ask.outcome !== 'pending' && which(ask));
  if (gone.length === 0) return run;
  const ended = gone.map(({ id, outcome }) => ({ id, outcome }));
  return {
    ...run,
    asks: run.asks.filter((ask) => !gone.includes(ask)),
    closedAsks: [...run.closedAsks, ...ended].slice(-CLOSED_ASKS_MAX),
  };
}

/** What people see of an ask; exactly what a decision on it must name. */
export function viewOf(ask: Ask): AskView {
  return {
    askId: ask.id,
    kind: ask.kind,
    ...(ask.callId !== undefined && { callId: ask.callId }),
    ...(ask.callKey !== undefined && { callKey: ask.callKey }),
    ...(ask.tool !== undefined && { tool: ask.tool }),
    ...(ask.toolVersion !== undefined && { toolVersion: ask.toolVersion }),
    ...(ask.args !== undefined && { args: ask.args }),
    argsHash: ask.digest,
    ...(ask.question !== undefined && { question: ask.question }),
    roles: ask.roles,
    quorum: ask.quorum,
    policyVersion: ask.policyVersion,
    ...(ask.requestedBy !== undefined && { requestedBy: ask.requestedBy }),
    openedAt: ask.openedAt,
    expiresAt: ask.expiresAt,
    ...(ask.escalation !== undefined && {
      escalation: { at: ask.escalation.at, roles: ask.escalation.roles },
    }),
    ...(ask.repeats !== undefined && { repeats: ask.repeats }),
    ...(ask.limits !== undefined && { limits: ask.limits }),
    ...(ask.answeredBy !== undefined && { answeredBy: ask.answeredBy }),
  };
}

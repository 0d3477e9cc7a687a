/**
 * Corrections: an approver wants other arguments (`modify`) or another action (`replace`) (G9, G81). Here a
 * correction is taken up; call/correct.ts has it checked and decides what becomes of it.
 *
 * Invariants:
 *  O1 While a correction is looked at its ask is pending: other votes wait (held-words.ts), no second correction is
 *     taken.
 *  O2 Its sender learns the outcome, or at least that it is not decided before the run moves on; an ask
 *     that closes leaves nobody waiting.
 */
import { visibleTools } from '../permission/permission.js';
import { isOpen, type OpenRun, type Run } from '../state/run.js';
import type { Ask, Decision, Verdict, Vote, Correction } from '../state/ask.js';
import { replaceAsk, withVerdict } from '../step/open-work.js';

/** Corrections of one question that may be refused, and of one call that may be taken. */
export const CORRECTIONS_MAX = 20;

/** Why an ask cannot be answered with this correction, whatever its arguments are. */
export function objectionToCorrection(run: Run, ask: Ask, decision: Decision): string | undefined {
  if (decision.args === undefined) return `'${decision.decision}' needs the arguments to use`;
  if ((ask.corrections ?? 0) >= CORRECTIONS_MAX) return 'it has been corrected too often';
  if (decision.decision === 'modify') return undefined;
  const tool = isOpen(run) && visibleTools(run).find((one) => one.name === decision.tool);
  if (!tool) return `the tool ${decision.tool ?? ''} is not available in this task`;
  return tool.kind === 'handoff' || tool.kind === 'human_input'
    ? `${tool.name} is no action that could be approved`
    : undefined;
}

export interface Taken {
  readonly decision: Decision;
  readonly vote: Vote;
  readonly ticket: string | undefined;
}

/** Keeps a correction that nothing speaks against so far. */
export function withCorrection(run: Run, ask: Ask, { decision, vote, ticket }: Taken): Run {
  const replaces = decision.decision === 'replace';
  const correction: Correction = {
    kind: replaces ? 'replace' : 'modify',
    tool: (replaces ? decision.tool : ask.tool) ?? '',
    args: decision.args ?? null,
    vote,
    ...(ticket !== undefined && { ticket }),
  };
  return replaceAsk(run, { ...ask, correction, corrections: (ask.corrections ?? 0) + 1 });
}

/** The ask without its correction, whose sender gets this verdict. */
export function withoutCorrection<R extends Run>(run: R, ask: Ask, verdict: Verdict): R {
  const { correction, ...rest } = ask;
  if (correction === undefined) return run;
  return withVerdict(replaceAsk(run, rest), correction.ticket, verdict);
}

/** Nobody waits over the end of a segment: who does, learns that it is not decided yet. */
export function releaseSenders(run: OpenRun): OpenRun {
  return run.asks.reduce<OpenRun>((next, ask) => {
    if (ask.correction === undefined) return next;
    const { ticket, held, ...bare } = ask.correction;
    const senders = [ticket, ...(held ?? []).map((word) => word.ticket)];
    const waiting = held !== undefined && { held: held.map(({ vote }) => ({ vote })) };
    const kept = replaceAsk(next, { ...ask, correction: { ...bare, ...waiting } });
    const verdict = { accepted: true, outcome: 'pending' } as const;
    return senders.reduce<OpenRun>((told, sender) => withVerdict(told, sender, verdict), kept);
  }, run);
}

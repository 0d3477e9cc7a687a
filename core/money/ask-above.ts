/**
 * A sub-agent that wants more money asks the run above it, for itself or for a sub-agent of its own (moneyAbove).
 * Invariants: one question is open at a time; no answer in time is a no; a run whose decisions must be proven asks
 * nothing, because nothing proves an answer.
 */
import type { MoneyAsked } from '../state/run-parts.js';
import type { OpenRun, Step } from '../state/run.js';
import { follows } from '../step/changes.js';
import { cancelTimer, nextId, startTimer } from '../step/inflight.js';

/** Of a run, in its life. */
export const QUESTIONS_MAX = 100;
/** For each generation above: whoever is nearer to the root stops waiting first. */
const MARGIN_MS = 60_000;

export function mayAskAbove(run: OpenRun): boolean {
  const { start, frozen, moneyAsks = 0, wrapUp } = run;
  const isHeard = start.parent?.asks === true && follows(run, 'moneyAbove');
  const isLast = wrapUp !== undefined || moneyAsks >= QUESTIONS_MAX;
  return isHeard && !isLast && !frozen.settings.requireProof;
}

type Wanted = Pick<MoneyAsked, 'amount' | 'for'>;

export function askAbove(run: OpenRun, wanted: Wanted): Step<OpenRun> {
  const n = (run.moneyAsks ?? 0) + 1;
  const generations = (run.frozen.lineage?.path.length ?? 2) - 1;
  const at = run.now + run.frozen.settings.inputTimeoutMs + generations * MARGIN_MS;
  const timed = startTimer(run, { at, summary: 'more money' });
  const moneyAsked = { ...wanted, n, timer: nextId(run, 'timer') };
  const asked = { ...timed.run, moneyAsks: n, moneyAsked };
  const { id: parent } = run.start.parent ?? { id: '' };
  const { amount } = wanted;
  const tell = { kind: 'tell_parent', parent, child: run.runId, n, amount } as const;
  return { run: asked, effects: [...timed.effects, tell] };
}

/** How much more, in micro-USD; 0: none, also when nobody answered in time. Undefined: nobody has answered yet. */
export function answerAbove({ moneyAsked, inflight }: OpenRun): number | undefined {
  if (moneyAsked === undefined) return 0;
  const { answer, timer } = moneyAsked;
  return answer ?? (inflight[timer] === undefined ? 0 : undefined);
}

/** The question is over. */
export function closeAbove({ moneyAsked, ...run }: OpenRun): Step<OpenRun> {
  return moneyAsked === undefined ? { run, effects: [] } : cancelTimer(run, moneyAsked.timer);
}

/** A limit of money that somebody has raised. */
export function withMore(run: OpenRun, microUsd: number): OpenRun {
  const { budget } = run.frozen;
  const { maxCostMicroUsd: limit } = budget;
  if (limit === 'unlimited') return run;
  const maxCostMicroUsd = Math.min(Number.MAX_SAFE_INTEGER, limit + microUsd);
  return { ...run, frozen: { ...run.frozen, budget: { ...budget, maxCostMicroUsd } } };
}

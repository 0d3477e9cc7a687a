/**
 * A target of output tokens: an answer that comes well before it is sent back to work (C23, C24).
 * Invariant: it never makes a run spend more than its hard budgets allow, and never costs it an answer that
 * it has: without room for another round the answer passes.
 */
import { fitRequest, trip } from '../money/budget.js';
import type { OpenRun } from '../state/run.js';
import { PASS, type GateVerdict } from './gate.js';
import type { TokenTracker } from '../state/token-budget.js';

const FRESH: TokenTracker = { continuations: 0, smallDeltas: 0, outputTokens: 0, startTokens: 0 };

/** The question is answered; the user's next one has a target of its own. */
export function nextTarget(run: OpenRun): Pick<OpenRun, 'tokenTracker'> {
  if (run.frozen.settings.tokenBudget === null) return {};
  const { replyTokens = 0 } = run;
  return { tokenTracker: { ...FRESH, outputTokens: replyTokens, startTokens: replyTokens } };
}

export function tokenTargetGate(run: OpenRun): GateVerdict {
  const { tokenBudget } = run.frozen.settings;
  if (tokenBudget === null) return PASS;
  const tracker = run.tokenTracker ?? FRESH;
  const { replyTokens = 0 } = run;
  const small = replyTokens - tracker.outputTokens < tokenBudget.smallDeltaTokens;
  const smallDeltas = small ? tracker.smallDeltas + 1 : 0;
  if (
    tracker.continuations >= tokenBudget.minContinuations &&
    smallDeltas >= tokenBudget.consecutiveSmallDeltas
  ) {
    return { kind: 'pass', detail: 'diminishing_returns' };
  }
  const { targetOutputTokens, completionThreshold } = tokenBudget;
  const total = replyTokens - tracker.startTokens;
  if (total >= targetOutputTokens * completionThreshold) {
    return { kind: 'pass', detail: 'token_target' };
  }
  if (trip(run, 'between_turns') !== undefined || 'misfit' in fitRequest(run)) return PASS;
  const continuations = tracker.continuations + 1;
  return {
    kind: 'again',
    run: {
      ...run,
      tokenTracker: { ...tracker, continuations, smallDeltas, outputTokens: replyTokens },
    },
    transition: 'token_budget_continuation',
    prompt: nudge(total, targetOutputTokens),
  };
}

function nudge(total: number, target: number): string {
  const share = Math.floor((100 * total) / target);
  return `You have used ${total} of ${target} output tokens (${share} %). Keep working on the task; do not summarise yet.`;
}

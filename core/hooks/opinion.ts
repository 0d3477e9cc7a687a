/**
 * What the hooks of one point said together. Pure.
 * Invariant: deny beats ask beats allow, whatever the order of the hooks.
 */
import type { AnswerOpinion, CallOpinion, HookOutcome, HookPoint } from '../state/hook.js';

/** Texts of all Stop hooks together that go back to the model. */
const ERRORS_CHARS_MAX = 16_000;

/** PreToolUse: the first that denies, a hook that failed among them; the last that changed the input. */
export function callOpinion(outcomes: readonly HookOutcome[]): CallOpinion {
  const denied = outcomes.find(isDenial);
  const asking = outcomes.find(({ opinion }) => opinion.decision === 'ask');
  const updated = outcomes.findLast(({ opinion }) => opinion.updatedInput !== undefined);
  const updatedInput = updated?.opinion.updatedInput;
  return {
    ...(denied !== undefined && { denied: denialText(denied) }),
    ...(asking !== undefined && {
      ask: {
        hook: asking.hook,
        ...(asking.opinion.message !== undefined && { reason: asking.opinion.message }),
      },
    }),
    ...(updatedInput !== undefined && { updatedInput }),
  };
}

/** The outcome after which no later hook of the point is asked. */
export function endsTheChain(point: HookPoint, outcome: HookOutcome): boolean {
  if (point === 'SessionStart') return outcome.opinion.decision === 'deny';
  return point === 'PreToolUse' && isDenial(outcome);
}

function isDenial({ opinion, error }: HookOutcome): boolean {
  return error !== undefined || opinion.decision === 'deny';
}

function denialText({ hook, opinion, error }: HookOutcome): string {
  if (error !== undefined) return `The hook ${hook} could not judge this call: ${error}`;
  return opinion.message ?? `The hook ${hook} denies this call.`;
}

/** Stop: every hook is heard; a hook that failed has no say in it. */
export function answerOpinion(outcomes: readonly HookOutcome[]): AnswerOpinion {
  const blockingErrors: string[] = [];
  let room = ERRORS_CHARS_MAX;
  for (const error of outcomes.flatMap(({ opinion }) => opinion.blockingErrors ?? [])) {
    const shown = error.slice(0, Math.max(0, room));
    room -= shown.length;
    if (shown.trim() !== '') blockingErrors.push(shown);
  }
  const preventing = outcomes.find(({ opinion }) => opinion.preventContinuation === true);
  const message = preventing?.opinion.message;
  return {
    blockingErrors,
    prevented: preventing !== undefined,
    ...(message !== undefined && { message }),
  };
}

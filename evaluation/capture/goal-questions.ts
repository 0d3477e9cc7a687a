/** What the reviewer and the judges of a recorded goal answered, as the scripts of a case. */
import type { AskJudgeOutput } from '../../core/state/goal/payloads.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { FixtureDocument } from '../format/document.js';
import type { WrittenJudgement, WrittenReview } from '../format/goal.js';
import { ofGoalKind, type GoalRecording } from './goal-recording.js';
import type { Texts } from './texts.js';

export interface CapturedQuestions {
  readonly reviews: readonly WrittenReview[];
  readonly judges: NonNullable<FixtureDocument['judges']>;
  /** An answer that was none was paid for: its price is not the script's to say. */
  readonly isPriceKnown: boolean;
}

export function questionScripts(recording: GoalRecording, texts: Texts): CapturedQuestions {
  const reviews: WrittenReview[] = [];
  const judges = new Map<string, WrittenJudgement[]>();
  let isPriceKnown = true;
  for (const { activity, input, output } of ofGoalKind(recording, 'ask_judge')) {
    const { end } = activity;
    if (output?.judgement !== undefined || output?.review !== undefined) {
      if (input.who === 'reviewer') reviews.push(reviewOf(output, texts));
      else judges.set(input.name, [...(judges.get(input.name) ?? []), judgementOf(output, texts)]);
      continue;
    }
    if ((output?.costMicroUsd ?? 0) > 0 || end.kind === 'cancelled') isPriceKnown = false;
    const said = end.kind === 'failed' ? end.message : 'The question was cut off.';
    const error = { error: output?.invalid ?? said };
    if (input.who === 'reviewer') reviews.push(error);
    else judges.set(input.name, [...(judges.get(input.name) ?? []), error]);
  }
  return { reviews, judges: Object.fromEntries(judges), isPriceKnown };
}

/** With the ids that were none of the list: the goal warns of them. */
function judgementOf(
  { judgement, usage, unknown = [] }: AskJudgeOutput,
  texts: Texts,
): WrittenJudgement {
  const { score = 0, evidence = [], because } = judgement ?? {};
  return {
    score,
    ...(because !== undefined && { because: texts.text(because) }),
    evidence: [...evidence, ...unknown],
    usage: { ...usage },
  };
}

function reviewOf({ review, usage, unknown = [] }: AskJudgeOutput, texts: Texts): WrittenReview {
  const { objectiveValid, because, approvalNeeded, handoff, pauseMs, memory } = review!;
  const { evidence } = review!;
  return {
    ...(objectiveValid !== undefined && { objective_valid: objectiveValid }),
    because: texts.text(because),
    evidence: [...evidence, ...unknown],
    ...(approvalNeeded !== undefined && { approval_needed: approvalNeeded }),
    ...(handoff !== undefined && { handoff }),
    ...(pauseMs !== undefined && { pause: durationOf(pauseMs) }),
    ...(memory !== undefined && { plan: planOf(texts.text({ $blob: memory })) }),
    usage: { ...usage },
  };
}

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** In words that reviewers may use. */
function durationOf(ms: number): string {
  return ms % MINUTE_MS === 0 ? `${ms / MINUTE_MS}m` : `${Math.ceil(ms / SECOND_MS)}s`;
}

/** The whole plan as the reviewer left it. */
function planOf(text: string): NonNullable<Extract<WrittenReview, { plan?: unknown }>['plan']> {
  const { plan } = JSON.parse(text) as GoalMemory;
  return plan.steps.map(({ id, title, status, note }) => ({
    id,
    title,
    status,
    ...(note !== undefined && { note }),
  }));
}

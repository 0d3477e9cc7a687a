/**
 * Questions to judges and to the reviewer: models that have no tools and see evidence, not the worker's prose.
 * Invariants: a question leaves only while money is left for it; three invalid answers in a row of one of them are a
 * question to a person (rest.ts).
 */
import type { Judgement } from '../state/goal/facts.js';
import type { ActivityEffect } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { OpenGoal, Pass } from '../state/goal/goal.js';
import type { ReviewAnswers } from '../state/goal/memory.js';
import type { AskJudgeInput, AskJudgeOutput } from '../state/goal/payloads.js';
import { questionWithin } from '../money/question-bound.js';
import { NO_USAGE } from '../state/model.js';
import type { Step } from '../state/run.js';
import { follows } from '../step/changes.js';
import { start } from '../step/inflight.js';
import { shownDigest } from './conditions.js';
import { dollars } from '../money/dollars.js';
import { leftOf, plus, questionMicroUsd, reserve, settle } from './money.js';
import { GOAL_STORE_LIMITS, ofOpenGoal, warnOf } from './telling.js';

const QUESTION_MS = 600_000;
const RETRIES = { serverError: 3, other: 6 };

/** undefined: there is no money for it. */
export function askJudge(
  goal: OpenGoal,
  pass: Pass,
  condition: number,
): Step<OpenGoal> | undefined {
  const term = goal.terms.done.conditions[condition]!;
  const judge =
    term.kind === 'judge' ? goal.terms.judges.find(({ name }) => name === term.name) : undefined;
  return judge === undefined
    ? undefined
    : ask(goal, pass, { who: 'judge', name: judge.name, term: judge, condition });
}

export function askReviewer(
  goal: OpenGoal,
  pass: Pass,
  computed: ReviewAnswers,
): Step<OpenGoal> | undefined {
  const { reviewer } = goal.terms;
  if (reviewer === undefined) return undefined;
  const { roles: _, ...term } = reviewer;
  return ask(goal, pass, { who: 'reviewer', name: 'reviewer', term, computed });
}

/** Without money a question is left out; what it would have found stays unknown. */
export function unpaid(goal: OpenGoal, who: string): OpenGoal {
  if (!follows(goal, 'unpaidJudges')) return goal;
  const left = dollars(questionMicroUsd(goal));
  return warnOf(goal, 'judge_unpaid', `${left} is left in this pass, too little to ask: ${who}`);
}

type Question = Pick<AskJudgeInput, 'who' | 'name' | 'term' | 'condition' | 'computed'>;

function ask(goal: OpenGoal, pass: Pass, question: Question): Step<OpenGoal> | undefined {
  const { who, name, term, condition, computed } = question;
  const money = questionMicroUsd(goal);
  const bound = questionWithin(term, money);
  if (bound === undefined) return undefined;
  const id = `ask_judge-${goal.nextEffect}`;
  const asking = {
    effectId: id,
    who: who === 'judge' ? `judge:${name}` : 'reviewer',
    reservedMicroUsd: money,
    ...(condition !== undefined && { condition }),
  };
  const reserved = reserve({ ...goal, pass: { ...pass, asking } }, money);
  return start(reserved, 'ask_judge', (_, events): ActivityEffect => ({
    kind: 'ask_judge',
    id,
    input: {
      ...ofOpenGoal(goal),
      who,
      name,
      ...(condition !== undefined && { condition }),
      number: goal.nextEffect,
      term,
      bound,
      left: {
        costMicroUsd: money,
        inputTokens: finite(leftOf(goal, 'maxInputTokens')),
        outputTokens: finite(leftOf(goal, 'maxOutputTokens')),
      },
      maxRetries: RETRIES,
      checks: goal.checks,
      ...(computed !== undefined && { computed }),
      handoffTo: goal.terms.handoffTo,
      unservedMs: goal.terms.unavailableMs,
      events,
    },
    limits: {
      attemptMs: QUESTION_MS,
      heartbeatMs: GOAL_STORE_LIMITS.heartbeatMs!,
      maximumAttempts: 0,
    },
    summary: name,
  }));
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Fact: an answer came, valid or not; the reviewer's is taken up by review.ts. */
export function answered(goal: OpenGoal, effectId: string, output: AskJudgeOutput): OpenGoal {
  const { pass } = goal;
  const { asking } = pass ?? {};
  if (pass === undefined || asking?.effectId !== effectId) return goal;
  const paid = paidFor(goal, asking, output);
  const { asking: _, ...without } = pass;
  const rest = { ...without, askedMicroUsd: pass.askedMicroUsd + output.costMicroUsd };
  const valid = output.judgement?.valid === true || output.review !== undefined;
  const unknowns = {
    ...paid.unknowns,
    [asking.who]: valid ? 0 : (paid.unknowns[asking.who] ?? 0) + 1,
  };
  const next: OpenGoal = { ...paid, unknowns, pass: rest };
  const known = withUnknown(next, asking.who, output);
  const told = valid
    ? known
    : warnOf(
        known,
        'judge_invalid',
        `${asking.who}: ${output.invalid ?? 'no evidence that exists'}`,
      );
  if (asking.condition === undefined) return reviewed(told, output);
  return withJudgement(told, asking.condition, {
    digest: shownDigest(goal),
    valid,
    ...(output.judgement?.score !== undefined && { score: output.judgement.score }),
    evidence: output.judgement?.evidence ?? [],
  });
}

/** An id that exists nowhere in the goal is told by its words. */
function withUnknown(goal: OpenGoal, who: string, { unknown = [] }: AskJudgeOutput): OpenGoal {
  return unknown.reduce<OpenGoal>(
    (next, id) => warnOf(next, 'evidence_unknown', `${who} cites ${JSON.stringify(id)}`),
    goal,
  );
}

/** What the reviewer said waits in the pass for the rule that makes a review of it. */
function reviewed(goal: OpenGoal, { review }: AskJudgeOutput): OpenGoal {
  const pass = { ...goal.pass!, answered: review ?? ('invalid' as const) };
  return { ...goal, pass };
}

function withJudgement(goal: OpenGoal, condition: number, judgement: Judgement): OpenGoal {
  return { ...goal, judgements: { ...goal.judgements, [condition]: judgement } };
}

function paidFor(
  goal: OpenGoal,
  { who, reservedMicroUsd }: NonNullable<Pass['asking']>,
  { costMicroUsd, usage, calls }: Pick<AskJudgeOutput, 'costMicroUsd' | 'usage' | 'calls'>,
): OpenGoal {
  const of = who === 'reviewer' ? 'reviews' : 'judges';
  const settled = settle(goal, { reservedMicroUsd, costMicroUsd, of });
  const counters = plus(settled.tally.counters, { modelCalls: calls, usage, costMicroUsd });
  return { ...settled, tally: { ...settled.tally, counters } };
}

/** The question failed for good: as an invalid answer, with what its attempts cost. */
export function notAnswered(goal: OpenGoal, effectId: string, failure: Failure): OpenGoal {
  const lost = failure.details?.['lostCostMicroUsd'];
  const usage = failure.details?.['lostUsage'];
  return answered(goal, effectId, {
    eventsUpTo: 0,
    invalid: `${failure.code}: ${failure.message}`.slice(0, 300),
    costMicroUsd: typeof lost === 'number' ? lost : 0,
    usage: isUsage(usage) ? usage : NO_USAGE,
    calls: 0,
  });
}

function isUsage(value: unknown): value is typeof NO_USAGE {
  return typeof value === 'object' && value !== null && 'input' in value && 'output' in value;
}

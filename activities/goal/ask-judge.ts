/**
 * ask_judge: a judge's score of one condition, or a review of the goal.
 * Invariants: those of every question (model-asking.ts), so an answer is paid for once; a judge sees evidence and never
 * the worker's prose; ids count only if they were on the list that was shown; what is no valid answer is asked for once
 * more and then said to be none.
 */
import { ApplicationFailure } from '@temporalio/common';
import { addUsage, costMicroUsd } from '../../core/money/budget.js';
import { digestOf, type Json } from '../../core/json/json.js';
import { MEMORY_LIMITS, type GoalMemory } from '../../core/state/goal/memory.js';
import type { StoredDefinition } from '../../core/state/goal/definition.js';
import type { AskJudgeInput, AskJudgeOutput } from '../../core/state/goal/payloads.js';
import { NO_USAGE, type AttemptBound } from '../../core/state/model.js';
import type { ModelReply, ModelRequest, RequestMessage } from '../../providers/provider.js';
import type { ActivityDeps } from '../deps.js';
import { accountOf } from '../model/model-account.js';
import {
  answerTo,
  prepareQuestion,
  takeReceipt,
  type PreparedQuestion,
} from '../model/model-asking.js';
import type { RequestTerms } from '../model/model-attempt.js';
import { usageOf } from '../model/reply-usage.js';
import { appendEvents } from '../run/append-events.js';
import type { Scope } from '../scope.js';
import { evidenceReader } from './evidence-reader.js';
import { judgementIn, reviewIn, type JudgementOutput, type ReviewOutput } from './judge-output.js';
import { askedAgain, boundOfRequest, goalQuestion, type GoalQuestion } from './question.js';
import { reviewOf } from './review.js';
import { storedJson } from './stored-json.js';

/** A question, and once more when its answer was none. */
const ASKED_MAX = 2;

export async function askJudge(
  deps: ActivityDeps,
  scope: Scope,
  input: AskJudgeInput,
): Promise<AskJudgeOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const { store, config } = deps;
  const definition = await storedJson<StoredDefinition>(store, input, input.definition);
  const memory = await storedJson<GoalMemory>(store, input, input.memory);
  const { tenant, runId: goal } = input.run;
  const reader = evidenceReader({ store, config }, { tenant, goal, memory });
  const question = await goalQuestion({ store, reader, input, definition, memory });
  if (question === undefined) {
    const { inputTokens } = input.bound;
    const invalid = `The question does not fit into the ${inputTokens} bytes that are paid for.`;
    return { invalid, costMicroUsd: 0, usage: NO_USAGE, calls: 0, eventsUpTo };
  }
  const answers = await answersTo(deps, scope, { input, question });
  const spent = await spentOn(deps, scope, { input, answers });
  return { ...(await outputOf(deps, { input, question, memory, answers })), ...spent, eventsUpTo };
}

interface Asking {
  readonly input: AskJudgeInput;
  readonly question: GoalQuestion;
}

interface Answer {
  readonly asked: RequestTerms;
  readonly attempt: number;
  readonly reply: ModelReply;
  readonly judged: Judged;
}

type Judged =
  | { readonly kind: 'judgement'; readonly value: JudgementOutput }
  | { readonly kind: 'review'; readonly value: ReviewOutput }
  | { readonly kind: 'none'; readonly defect: string };

/** All answers, the last of which counts. */
async function answersTo(
  deps: ActivityDeps,
  scope: Scope,
  { input, question }: Asking,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let { messages } = question;
  for (let time = 1; time <= ASKED_MAX; time += 1) {
    const prepared = await prepareTime(deps, scope, { input, question, messages, time });
    if (time > 1 && isUnpaid(prepared)) break;
    const receipt = await answerTo(deps, scope, prepared);
    const { attempt, reply } = receipt.received;
    // The reply is on disk before anything is made of it.
    const judged = await takeReceipt(deps, scope, {
      receipt,
      take: async () => judgedOf(input, reply),
    });
    answers.push({ asked: prepared.asked, attempt, reply, judged });
    if (judged.kind !== 'none' || reply.partial === true) break;
    messages = askedAgain(question, { answer: textOf(reply), defect: judged.defect });
  }
  return answers;
}

interface Time extends Asking {
  readonly messages: readonly RequestMessage[];
  /** From 1. */
  readonly time: number;
}

function prepareTime(
  deps: ActivityDeps,
  scope: Scope,
  { input, question, messages, time }: Time,
): Promise<PreparedQuestion> {
  const { run, number, who, name, condition, definition, memory, term, checks } = input;
  const purpose = who === 'judge' ? 'judge' : 'review';
  const request: ModelRequest = {
    model: term.route.model,
    system: question.system,
    tools: [],
    messages,
    maxTokens: term.maxTokens,
    ...(term.route.temperatureAllowed && { temperature: 0 }),
    metadata: { runId: run.runId, call: number, purpose, name },
  };
  const asked = {
    purpose,
    name,
    condition: condition ?? null,
    definition,
    memory,
    checks: checks as unknown as Json,
    computed: (input.computed ?? null) as unknown as Json,
    model: term.route.model,
    maxTokens: term.maxTokens,
    time,
  };
  const { tenant, runId } = run;
  // The marks in the request are random: what names it is what it is made from.
  const replyKey = { tenant, runId, call: number, requestDigest: digestOf(asked) };
  return deps.store.together((store) =>
    prepareQuestion({ ...deps, store }, scope, {
      asked: termsOf(input, boundOfRequest(input, request)),
      purpose,
      request,
      replyKey,
    }),
  );
}

function termsOf(
  { run, term, left, maxRetries, unservedMs }: AskJudgeInput,
  bound: AttemptBound,
): RequestTerms {
  const { route, maxTokens } = term;
  return {
    run,
    route,
    maxTokens,
    bound,
    left,
    maxRetries,
    ...(unservedMs !== undefined && { unservedMs }),
  };
}

/** Nothing is left for asking once more. */
function isUnpaid({ next }: PreparedQuestion): boolean {
  if (next.kind !== 'refused' || !(next.failure instanceof ApplicationFailure)) return false;
  return next.failure.type === 'BudgetExhausted';
}

function judgedOf(input: AskJudgeInput, reply: ModelReply): Judged {
  if (reply.partial === true) return { kind: 'none', defect: 'it was interrupted' };
  if (reply.stop === 'refusal') return { kind: 'none', defect: 'the model refused to answer' };
  const text = textOf(reply);
  if (input.who === 'judge') {
    const output = judgementIn(text);
    if (output.ok) return { kind: 'judgement', value: output.value };
    return { kind: 'none', defect: output.defect };
  }
  const output = reviewIn(text, input.handoffTo);
  if (output.ok) return { kind: 'review', value: output.value };
  return { kind: 'none', defect: output.defect };
}

function textOf({ blocks }: ModelReply): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

type Spent = Pick<AskJudgeOutput, 'costMicroUsd' | 'usage' | 'calls'>;

/** Answers that are used cost what was reported of them, all other attempts what their rows say. */
async function spentOn(
  { store }: ActivityDeps,
  scope: Scope,
  { input, answers }: { readonly input: AskJudgeInput; readonly answers: readonly Answer[] },
): Promise<Spent> {
  const { tenant, runId } = input.run;
  const rows = await store.listAttempts(tenant, runId, scope.effectId);
  const used = answers.map(({ attempt }) => attempt);
  const lost = accountOf(rows.filter(({ attempt }) => !used.includes(attempt)));
  const { route } = input.term;
  const usages = answers.map(({ asked, reply }) => usageOf(asked, reply));
  const costs = usages.map((usage) => costMicroUsd(usage, route.prices));
  return {
    costMicroUsd: costs.reduce((sum, cost) => sum + cost, lost.lostCostMicroUsd),
    usage: usages.reduce(addUsage, lost.lostUsage),
    calls: answers.length,
  };
}

interface Answered extends Asking {
  readonly memory: GoalMemory;
  readonly answers: readonly Answer[];
}

type Outcome = Pick<AskJudgeOutput, 'judgement' | 'review' | 'invalid' | 'unknown'>;

const UNKNOWN_SHOWN_MAX = 5;
const UNKNOWN_CHARS_MAX = 100;

async function outputOf(
  deps: ActivityDeps,
  { input, question, memory, answers }: Answered,
): Promise<Outcome> {
  const judged = answers.at(-1)?.judged ?? { kind: 'none', defect: 'nobody was asked' };
  if (judged.kind === 'none') return { invalid: `No valid answer: ${judged.defect}.` };
  const { ids } = question.evidence;
  const shown = [...new Set(judged.value.evidence)].filter((id) => ids.has(id));
  const evidence = shown.slice(0, MEMORY_LIMITS.evidenceIds);
  const others = [...new Set(judged.value.evidence)].filter((id) => !ids.has(id));
  const unknown = others.length > 0 && {
    unknown: others.slice(0, UNKNOWN_SHOWN_MAX).map((id) => id.slice(0, UNKNOWN_CHARS_MAX)),
  };
  const { tenant } = input.run;
  const because = await deps.store.putText(tenant, judged.value.because);
  if (judged.kind === 'judgement') {
    const valid = shown.some((id) => ids.get(id)?.proves === true);
    return { judgement: { valid, score: judged.value.score, evidence, because }, ...unknown };
  }
  const review = await reviewOf({ store: deps.store, tenant, memory }, judged.value);
  return { review: { ...review, because, evidence }, ...unknown };
}

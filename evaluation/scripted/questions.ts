/**
 * The scripted reviewer and judges of a goal: each question has its entry of the script, which every attempt at it gets;
 * the last entry repeats.
 */
import type { Json } from '../../core/json/json.js';
import type { DoneCondition } from '../../core/state/goal/definition.js';
import { modelFailure, type ModelReply, type ModelRequest } from '../../providers/provider.js';
import {
  inTurn,
  type CaseGoal,
  type ScriptedJudgement,
  type ScriptedReview,
} from '../goal-case.js';
import type { ScriptedQuestions } from './model.js';

const UNSCRIPTED: ScriptedReview = {
  kind: 'review',
  objectiveValid: true,
  because: 'Nothing is scripted.',
  evidence: [],
  usage: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 },
};

export function scriptedQuestions(goal: CaseGoal): ScriptedQuestions {
  const { reviews, judges } = goal;
  /** By whom, the numbers of the questions that were asked, in order. */
  const asked = new Map<string, number[]>();

  function turnOf(who: string, question: number): number {
    const known = asked.get(who) ?? [];
    if (!known.includes(question)) known.push(question);
    asked.set(who, known);
    return known.indexOf(question) + 1;
  }

  return {
    reply(request) {
      const { metadata, model } = request;
      const { purpose, call = 1 } = metadata ?? {};
      if (purpose === 'review') {
        return answered(inTurn(reviews, turnOf('reviewer', call)) ?? UNSCRIPTED, model);
      }
      const name = judgeIn(goal, textOf(request));
      const judgement = inTurn(judges.get(name) ?? [], turnOf(name, call));
      if (judgement === undefined) throw failed(`nothing is scripted for the judge ${name}`);
      return answered(judgement, model);
    },
  };
}

/** Judges are known by the rubric that they are shown, or else by their name. */
function judgeIn({ definition, judges }: CaseGoal, text: string): string {
  const done = definition.done as { readonly [mode: string]: readonly DoneCondition[] } | undefined;
  const asked = Object.values(done ?? {})
    .flat()
    .find((one) => 'judge' in one && one.rubric !== undefined && text.includes(one.rubric));
  if (asked !== undefined && 'judge' in asked) return asked.judge;
  const names = [...judges.keys()];
  return names.find((name) => text.includes(name)) ?? names[0] ?? '';
}

function textOf({ system, dynamic = [], messages }: ModelRequest): string {
  const said = messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
  return [system, ...dynamic, ...said].join('\n');
}

function answered(entry: ScriptedReview | ScriptedJudgement, model: string): ModelReply {
  if (entry.kind === 'error') throw failed(entry.message);
  const text = JSON.stringify(outputOf(entry));
  return {
    blocks: [{ type: 'text', text }],
    raw: [{ type: 'text', text }],
    stop: 'end_turn',
    usage: entry.usage,
    usageSource: 'reported',
    model,
    incompleteCalls: 0,
  };
}

function outputOf(
  entry: Exclude<ScriptedReview | ScriptedJudgement, { readonly kind: 'error' }>,
): Json {
  if (entry.kind === 'judgement') {
    const { score, because, evidence } = entry;
    return { score, because, evidence: [...evidence] };
  }
  const { objectiveValid, because, evidence, approvalNeeded, handoff, plan, pause } = entry;
  return {
    objective_valid: objectiveValid,
    because,
    evidence: [...evidence],
    ...(approvalNeeded !== undefined && { approval_needed: approvalNeeded }),
    ...(handoff !== undefined && { handoff }),
    ...(plan !== undefined && { plan: plan as unknown as Json }),
    ...(pause !== undefined && { pause }),
  };
}

function failed(message: string) {
  return modelFailure('InvalidRequest', `The scripted answer failed: ${message}`, {
    receivedInput: false,
    receivedOutputTokensEstimate: 0,
    shouldRetry: false,
  });
}

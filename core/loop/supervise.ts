/**
 * Looks of a supervisor at a run: between two requests, after so many turns or after events that call for one.
 * Invariants: a look is reserved before it leaves, and one without money is left out; the run waits for its word; a word
 * steers, interrupts or asks a person and does nothing else; a look that fails changes nothing and is told.
 */
import {
  addUsage,
  committedMicroUsd,
  costMicroUsd,
  leftToSpend,
  modelRetries,
  reserve,
  settleReservation,
} from '../money/budget.js';
import { questionWithin } from '../money/question-bound.js';
import { billFailure } from '../money/unheard-cost.js';
import { refOf, type ActivityEffect, type AskSupervisorOutput } from '../state/effect.js';
import type { Failure } from '../state/failure.js';
import type { AttemptBound } from '../state/model.js';
import type { OpenRun, Step } from '../state/run.js';
import {
  SUPERVISION_LIMITS,
  type Supervision,
  type SupervisorTerms,
} from '../state/supervision.js';
import { left, workLimits } from '../step/clock.js';
import { only, start } from '../step/inflight.js';
import { emit, warn, warnOnce } from '../step/outbox.js';
import { unservedLimit } from '../step/route.js';
import { awaitAnswer, queuedWords, question, steering } from './supervisor-words.js';
import { unwatched } from './supervised.js';

/** Deliveries under rules without `workedTime`, which no run with a supervisor follows. */
const ATTEMPTS_MAX = 20;

/** Rule: heeds the word of the newest look, or begins the next; one under way holds the rule `limits`. */
export function supervise(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  const { supervision } = run;
  const { supervisor } = run.frozen;
  if (supervision === undefined || supervisor === undefined) return undefined;
  if (supervision.word !== undefined) return heed(run, supervisor, supervision);
  if (supervision.askId !== undefined) return awaitAnswer(run, supervision, supervision.askId);
  if (run.wrapUp !== undefined || !isDue(run, supervisor, supervision)) return undefined;
  // What is on its way to the store is seen as well.
  return run.outbox.carrier === undefined ? look(run, supervisor, supervision) : 'hold';
}

function isDue(run: OpenRun, { everyTurns }: SupervisorTerms, known: Supervision): boolean {
  if (known.looks >= SUPERVISION_LIMITS.looks) return false;
  const turns = run.tally.turnCount - known.turns;
  return known.due === true || (everyTurns !== undefined && turns >= everyTurns);
}

function look(run: OpenRun, terms: SupervisorTerms, known: Supervision): Step<OpenRun> {
  const money = left(committedMicroUsd(run), run.frozen.budget.maxCostMicroUsd);
  const { due: _, ...before } = known;
  const supervision = {
    ...before,
    turns: run.tally.turnCount,
    looks: known.looks + 1,
    seen: run.outbox.nextSeq,
  };
  const bound = questionWithin(terms, money);
  if (bound === undefined) {
    const message = `${terms.agent.name} does not look at the run: too little money is left to ask`;
    const unpaid = { ...run, supervision: { ...before, turns: supervision.turns } };
    return only(unwatched(unpaid, warnOnce(unpaid, 'supervisor_unpaid', message)));
  }
  return ask({ ...run, supervision }, terms, { bound, from: known.seen });
}

interface Look {
  readonly bound: AttemptBound;
  readonly from: number;
}

function ask(run: OpenRun, terms: SupervisorTerms, { bound, from }: Look): Step<OpenRun> {
  const { modelTimeoutMs, heartbeatMs } = run.frozen.settings;
  const { agent, route, instructions, maxTokens } = terms;
  const { looks, seen } = run.supervision!;
  const { limits, workMs } = workLimits(run, {
    attemptMs: modelTimeoutMs,
    ownMs: modelTimeoutMs,
    heartbeatMs: heartbeatMs.repeatable,
    deliveriesMax: ATTEMPTS_MAX,
  });
  const asked = { inputTokens: bound.inputTokens, outputTokens: maxTokens };
  const effectId = `ask_supervisor-${run.nextEffect}`;
  const begun = reserve({ ...run, asked }, effectId, bound.costMicroUsd);
  return start(begun, 'ask_supervisor', (id, events): ActivityEffect => ({
    kind: 'ask_supervisor',
    id,
    input: {
      v: 1,
      run: refOf(run),
      number: looks,
      goal: run.start.task.goal,
      terms: { agent, route, instructions, maxTokens },
      from,
      to: seen,
      bound,
      left: leftToSpend(run),
      maxRetries: modelRetries(run),
      events,
      ...(workMs !== undefined && { workMs }),
      ...unservedLimit(run),
    },
    limits,
    summary: `${agent.name}, look #${looks}`,
  }));
}

/** Fact: the supervisor has answered. */
export function supervisorAnswered(
  run: OpenRun,
  effectId: string,
  output: AskSupervisorOutput,
): OpenRun {
  const { supervisor } = run.frozen;
  if (supervisor === undefined || run.supervision === undefined) return run;
  const { usage, lostCostMicroUsd, lostUsage, word, invalid } = output;
  const billed = costMicroUsd(usage, supervisor.route.prices);
  const { asked: _, ...paid } = settleReservation(run, effectId, {
    billed,
    lost: lostCostMicroUsd,
    by: 'the supervisor',
  });
  const tally = { ...run.tally, usage: addUsage(addUsage(run.tally.usage, usage), lostUsage) };
  const known: OpenRun = { ...paid, tally };
  return word === undefined
    ? silent(known, invalid ?? 'no valid answer')
    : {
        ...known,
        supervision: {
          ...run.supervision,
          word: { ...word, usage, costMicroUsd: billed + lostCostMicroUsd },
        },
      };
}

/** Fact: nobody answered. */
export function supervisorFailed(run: OpenRun, effectId: string, failure: Failure): OpenRun {
  const billed = billFailure(run, effectId, failure);
  return failure.cancelled ? billed : silent(billed, failure.message);
}

function silent(run: OpenRun, why: string): OpenRun {
  const name = run.frozen.supervisor?.agent.name ?? 'the supervisor';
  return unwatched(run, warn(run, 'supervisor_silent', `${name}: ${why}`));
}

function heed(run: OpenRun, { agent, roles }: SupervisorTerms, known: Supervision): Step<OpenRun> {
  const { word, ...supervision } = known;
  const { decision, because, text = '', costMicroUsd: cost, usage } = word!;
  const told = emit<OpenRun>(
    { ...run, supervision },
    {
      type: 'supervision',
      number: known.looks,
      supervisor: agent.name,
      decision,
      because,
      ...(word!.text !== undefined && { text }),
      costMicroUsd: cost,
      usage,
    },
  );
  switch (decision) {
    case 'go_on':
      return only(told);
    case 'steer':
      return only(queuedWords(told, steering(run, agent.name, text)));
    case 'interrupt':
      return only({
        ...told,
        supervision: { ...supervision, interrupts: true },
        interrupt: told.interrupt ?? 'interrupt',
      });
    case 'ask':
      return question(told, { by: agent.name, text, roles });
  }
}

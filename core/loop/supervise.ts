/**
 * Looks of a supervisor at a run: between two requests, after so many turns or after events that call for one.
 * Invariants: a look is reserved before it leaves, and one without money is left out; the run waits for its word; a word
 * steers, interrupts or asks a person and does nothing else; a look that fails changes nothing and is told.
 */
import { closeAsk, openAsk } from '../ask/open-ask.js';
import { digestOf, jsonBytes } from '../json/json.js';
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
import type { Ask } from '../state/ask.js';
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
import { flying, only, start } from '../step/inflight.js';
import { askById, outcomeOf, retireAsks } from '../step/open-work.js';
import { emit, warn, warnOnce } from '../step/outbox.js';
import { unservedLimit } from '../step/route.js';
import { stop } from '../step/stop.js';
import { QUEUE_BYTES_MAX, QUEUE_MAX } from './user-message.js';
import { fenced } from '../turn/data-fence.js';

/** Deliveries under rules without `workedTime`, which no run with a supervisor follows. */
const ATTEMPTS_MAX = 20;

/** Rule: heeds the word of the newest look, waits for one, or begins the next. */
export function supervise(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  const { supervision } = run;
  const { supervisor } = run.frozen;
  if (supervision === undefined || supervisor === undefined) return undefined;
  if (supervision.word !== undefined) return heed(run, supervisor, supervision);
  if (supervision.askId !== undefined) return awaitAnswer(run, supervision, supervision.askId);
  if (flying(run, ['ask_supervisor'])) return 'hold';
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
    return only(
      warnOnce(
        { ...run, supervision: { ...before, turns: supervision.turns } },
        'supervisor_unpaid',
        message,
      ),
    );
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
  return warn(run, 'supervisor_silent', `${name}: ${why}`);
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

/** They wait behind what the user has said; without room they are dropped and told. */
function queuedWords(run: OpenRun, text: string): OpenRun {
  const from = { run: run.runId, agent: run.frozen.supervisor!.agent.name };
  const queue = [...run.queue, { text, from }];
  const fits = queue.length <= QUEUE_MAX && jsonBytes(queue) <= QUEUE_BYTES_MAX;
  return fits ? { ...run, queue } : warn(run, 'message_dropped', `of ${from.agent}`);
}

function steering(run: OpenRun, name: string, text: string): string {
  return [
    `${name} watches this task for the people who run you, and says:`,
    fencedWords(run, text),
    'Heed that as far as the task and your instructions allow. Those words approve no action.',
  ].join('\n');
}

function fencedWords({ runId, supervision }: OpenRun, text: string): string {
  return fenced({ kind: 'supervisor', seed: `${runId} ${supervision?.looks ?? 0} ${text}`, text });
}

interface Question {
  readonly by: string;
  readonly text: string;
  readonly roles: readonly string[];
}

function question(run: OpenRun, { by, text, roles }: Question): Step<OpenRun> {
  const number = run.supervision?.looks ?? 0;
  const id = `${run.runId}:supervisor:${number}`;
  const { caller } = run.start.task;
  return openAsk(
    { ...run, supervision: { ...run.supervision!, askId: id } },
    {
      id,
      kind: 'input',
      question: `${by}, which watches this run, asks: ${text}`,
      digest: digestOf({ run: run.runId, number, text }),
      roles,
      quorum: 1,
      ...(roles.length > 0 && { answeredBy: 'staff' as const }),
      ...(caller !== undefined && { requestedBy: caller }),
      expiresInMs: run.frozen.settings.inputTimeoutMs,
      onExpiry: 'stop',
    },
  );
}

/** Nothing starts while a person is asked; without an answer in time the run stops for a person. */
function awaitAnswer(run: OpenRun, known: Supervision, askId: string): Step<OpenRun> | 'hold' {
  const ask = askById(run, askId);
  const outcome = ask === undefined ? 'withdrawn' : outcomeOf(ask);
  if (outcome === 'pending') return 'hold';
  const { askId: _, ...supervision } = known;
  // A pause withdraws the question.
  if (ask === undefined || outcome === 'withdrawn') return only({ ...run, supervision });
  const isAnswered = outcome === 'answered';
  const closed = closeAsk<OpenRun>({ ...run, supervision }, askId, {
    outcome: isAnswered ? 'answered' : 'expired',
  });
  const next = retireAsks(closed.run, ({ id }) => id === askId);
  return {
    run: isAnswered
      ? queuedWords(next, answerWords(next, ask))
      : stop(next, 'needs_human', { detail: 'supervisor_unanswered' }),
    effects: closed.effects,
  };
}

function answerWords(run: OpenRun, { votes, question: asked = '' }: Ask): string {
  const { by = '', value = null } = votes.at(-1) ?? {};
  const answer = typeof value === 'string' ? value : JSON.stringify(value);
  return [
    'A person was asked a question about this task:',
    fencedWords(run, asked),
    `${by} answers: ${answer}`,
  ].join('\n');
}

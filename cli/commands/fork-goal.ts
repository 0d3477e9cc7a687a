/** `holdfast fork` of a goal: what a fork would begin with, or a new goal on the server that goes on from its checkpoint. */
import { HoldfastError } from '../../core/state/errors.js';
import { usd } from '../../evaluation/past/report.js';
import type { GoalFold } from '../../recording/fold.js';
import { handedOverBelow, type HandedOverBelow } from '../../recording/fork-plan.js';
import { goalForkAt, type GoalForkPlan } from '../../recording/goal-fork.js';
import { aloneOf, runsOf } from '../../replay/tree.js';
import type { Cli } from '../command.js';
import { recordedOf, type Recorded } from '../desk/recorded.js';
import { TENANT } from '../desk/run-record.js';
import { inert, plural } from '../render/index.js';
import { neededStore, type Session } from '../session.js';
import { EXIT } from '../exit-code.js';
import { printGoalResult } from '../terminal/follow-goal.js';
import type { Output } from '../terminal/output.js';
import { usage } from '../usage.js';
import { callsOf, notStarted, refuseOtherTenant, wordOnFork } from './fork-live.js';
import { changesNamed, type ForkOptions } from './fork-options.js';
import { startBudget } from './goal/goal-input.js';

const LINE_CHARS_MAX = 400;
const GOAL_ID_CHARS = 128;
/** The result follows the end at once. */
const RESULT_LIMIT_MS = 30_000;

interface GoalForkWanted {
  readonly fold: GoalFold;
  readonly subject: string;
  readonly recorded: Recorded;
  readonly session: Session;
  readonly options: ForkOptions;
}

/** Errors: `Usage`, `ForkRefused`, and those of starting a goal. */
export async function forkOfGoal(
  cli: Cli,
  asked: GoalForkWanted,
  output: Output,
): Promise<number | void> {
  const { fold, options, subject, session } = asked;
  const { runId: goalId } = fold.run;
  refuseChanges(options, goalId);
  const plan = goalForkAt(fold, options.at, startBudget(options.budget));
  if (options.live !== true && options.plan !== true) throw notDry(goalId);
  if (options.plan === true) {
    const { bundle } = await recordedOf(cli, session, subject);
    const handedOver = handedOverBelow(runsOf(bundle).map((run) => aloneOf(bundle, run)));
    output.data({ runId: goalId, ...plan, handedOver });
    if (output.json) return;
    for (const line of linesOf(plan, handedOver)) output.line(inert(line, LINE_CHARS_MAX));
    return;
  }
  if (options.message !== undefined && plan.requireProof) throw unsigned(goalId);
  const { bundle, source } = asked.recorded;
  if (bundle.redactions.length > 0) throw redacted();
  if (source === 'file') refuseOtherTenant(bundle.run.tenant);
  const store = await neededStore(session);
  if ((await store.getRun(TENANT, goalId))?.kind !== 'goal') throw unknown(goalId);
  const calls = await callsOf(session, asked.recorded);
  const word = await wordOnFork(cli, goalId);
  if (word !== 'yes') return notStarted(output, word);
  const client = await session.client();
  const { step, checkpoint, definition, agent, pace, budget } = plan;
  const forked = { goalId, step, checkpoint, definition, agent, pace, budget, store };
  const { message } = options;
  const { runId, isUnread } = await client
    .forkGoal({
      ...forked,
      ...(calls !== undefined && { calls }),
      ...(message !== undefined && { message }),
    })
    .then((goal) => ({ runId: goal.goalId, isUnread: false }), endedUnread);
  const started = { mode: 'live', runId, forked: { runId: goalId, step } };
  output.data(isUnread ? { ...started, messageRead: false } : started);
  output.line(runId);
  if (!isUnread) return;
  output.remark('The goal has ended, and has not read the message.');
  const result = await client.goal(runId).result({ timeoutMs: RESULT_LIMIT_MS });
  printGoalResult(result, output);
  return result.completed ? EXIT.completed : EXIT.stopped;
}

/** The goal was started, as it was asked for: how it ended is the answer. */
function endedUnread(error: unknown): { readonly runId: string; readonly isUnread: true } {
  const { reason, runId } = error instanceof HoldfastError ? (error.details ?? {}) : {};
  if (reason !== 'goal_ended' || typeof runId !== 'string') throw error;
  return { runId, isUnread: true };
}

function linesOf(plan: GoalForkPlan, handedOver: readonly HandedOverBelow[]): readonly string[] {
  const { step, spentMicroUsd, cycles, budget, checkpoint, unread } = plan;
  const {
    maxCostMicroUsd,
    hardMaxCostMicroUsd: _,
    onBudget: _o,
    budgetRoles: _r,
    ...left
  } = budget;
  return [
    `After step ${step}: ${usd(spentMicroUsd)} spent in ${plural(cycles, 'cycle')}; the fork goes on from checkpoint ${checkpoint}`,
    `left             ${usd(maxCostMicroUsd)}`,
    ...Object.entries(left).map(([field, rest]) => `left             ${field} ${rest}`),
    ...plan.askedAnew.map(({ id, kind }) => `asked anew       ${id} ${kind}`),
    ...plan.notExecuted.map(({ n, runId }) => `not executed     cycle ${n} ${runId}`),
    ...(unread > 0
      ? [`left out         ${plural(unread, 'word')} of people that no cycle had read`]
      : []),
    ...handedOver.map(
      ({ runId, tool, callId, step: at }) =>
        `asks to repeat   ${tool} ${callId} (handed over by ${runId} in step ${at})`,
    ),
  ];
}

/** What a cycle is made of is changed where it is: in its run. */
function refuseChanges(options: ForkOptions, goalId: string): void {
  const [other] = changesNamed(options).filter((name) => name !== 'budget' && name !== 'message');
  if (other === undefined) return;
  throw usage(
    `--${other} changes a run, and ${inert(goalId, GOAL_ID_CHARS)} is a goal.`,
    `Of a goal --budget and --message are changed. ${cycleHint(goalId)}`,
  );
}

function cycleHint(goalId: string): string {
  const id = inert(goalId, GOAL_ID_CHARS);
  return `Fork the run of one of its cycles, for example \`holdfast fork ${id}:c1 --at STEP\` (of a file: --run c1).`;
}

function notDry(goalId: string): HoldfastError {
  const id = inert(goalId, GOAL_ID_CHARS);
  return new HoldfastError(
    'ForkRefused',
    `${id} is a goal, which is not played dry: its checks look at the world of today.`,
    { hint: `--plan shows what a fork begins with, --live starts it. ${cycleHint(goalId)}` },
  );
}

function unsigned(goalId: string): HoldfastError {
  return new HoldfastError('ForkRefused', 'Words to this goal must be signed.', {
    hint: `Leave out --message, and steer the fork of ${inert(goalId, GOAL_ID_CHARS)} with \`holdfast goal steer\` over the desk.`,
  });
}

function redacted(): HoldfastError {
  return new HoldfastError('ForkRefused', 'A redacted goal is not forked live.', {
    hint: 'Fork the goal itself where its store is.',
  });
}

function unknown(goalId: string): HoldfastError {
  const id = inert(goalId, GOAL_ID_CHARS);
  return new HoldfastError('ForkRefused', `The store has nothing of the goal ${id}.`, {
    hint: 'Name the store in which the goal ran (--store): a fork goes on from a checkpoint there.',
  });
}

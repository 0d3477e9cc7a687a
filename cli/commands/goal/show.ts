/** `holdfast goal show`, `watch`, `log` and `brief`: what a goal does, and why. */
import type { Command } from 'commander';
import type { GoalRecord, HoldfastClient } from '../../../client/index.js';
import { HoldfastError } from '../../../core/state/errors.js';
import type { GoalView } from '../../../core/state/goal/view.js';
import type { AskRow } from '../../../store/asks.js';
import type { RunRow } from '../../../store/runs.js';
import type { StoreCalls } from '../../../store/store.js';
import {
  commandHints,
  tenantOf,
  withTenant,
  type HintsOf,
  type TenantOptions,
} from '../../desk/actor.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../../command.js';
import {
  dateTimeText,
  inert,
  inertLines,
  logLines,
  measurementLines,
  planLines,
  relativeText,
  reviewLines,
  table,
  plural,
  usdText,
} from '../../render/index.js';
import type { Session } from '../../session.js';
import { cardPrinter, followGoal, printGoalResult } from '../../terminal/follow-goal.js';
import type { Output } from '../../terminal/output.js';
import { wholeNumber } from '../../usage.js';

type Options = CommonOptions & TenantOptions;

const STATE_LIMIT_MS = 2_500;
const ASKS_MAX = 200;
/** Behind the last one that the record has. */
const CYCLES_LOOKED_AT = 50;
const CYCLES_SHOWN = 10;
const LOG_DEFAULT = 50;
const BRIEF_CHARS_MAX = 200_000;

export function addGoalShow(goal: Command, cli: Cli): void {
  const command = goal
    .command('show')
    .description(
      'Show a goal: how it stands, its money, plan, measurements, newest review, last cycles and questions, or how it ended.',
    )
    .argument('<goal>', 'goal id');
  withJson(withPlace(withTenant(command)), '{goalId, goal, state, record, asks, trouble}')
    .addHelpText(
      'after',
      examples('holdfast goal show march', 'holdfast goal show march --json | jq .state.plan'),
    )
    .action((goalId: string, options: Options) =>
      runCommand(cli, options, async (session, output) => {
        const facts = await factsOf(session, tenantOf(options), goalId);
        output.data(facts);
        if (!output.json) await print(facts, output, hintsIn(cli, session, options));
      }),
    );
}

interface GoalFacts {
  readonly goalId: string;
  /** As the store knows it. */
  readonly goal: RunRow | null;
  /** As the goal itself says; null when it has ended or no worker answers. */
  readonly state: GoalView | null;
  /** Plan, measurements, reviews, last cycles; null: the store has none of it. */
  readonly record: GoalRecord | null;
  /** Questions that are open: of the goal, then of its open cycle and the sub-agents below it. */
  readonly asks: readonly AskRow[];
  /** Why a goal that is under way does not answer, or its record is not here. */
  readonly trouble: string | null;
}

async function factsOf(session: Session, tenant: string, goalId: string): Promise<GoalFacts> {
  const store = await session.store();
  const goal = (await store?.getRun(tenant, goalId)) ?? null;
  if (goal !== null && goal.kind !== 'goal') throw noGoal(goalId);
  const ended = goal?.result !== undefined;
  const client = goal === null ? await session.client() : await session.tryClient();
  const live = await liveFacts(client, { tenant, goalId, ended });
  if (goal === null && live.state === null && live.trouble === null) throw noGoal(goalId);
  const record =
    client === undefined || goal === null
      ? null
      : await client
          .forTenant(tenant)
          .goal(goalId)
          .record()
          .catch(() => null);
  const after = record?.childRuns.at(-1)?.n ?? 0;
  const asks = store === undefined ? [] : await asksOf(store, { tenant, goalId, after });
  return { goalId, goal, record, asks, ...live };
}

interface CyclesBehind {
  readonly tenant: string;
  readonly goalId: string;
  /** Number of a cycle that has ended. */
  readonly after: number;
}

/** From the store alone: a goal whose worker is away has its questions too. */
async function asksOf(
  store: Pick<StoreCalls, 'listAsks' | 'listChildren'>,
  { tenant, goalId, after }: CyclesBehind,
): Promise<readonly AskRow[]> {
  const newest = (await store.listChildren(tenant, goalId, { after, limit: CYCLES_LOOKED_AT })).at(
    -1,
  );
  const runs = newest === undefined ? [goalId] : [goalId, newest.child];
  const pages = runs.map((under) =>
    store.listAsks(tenant, { under, pendingOnly: true, limit: ASKS_MAX }),
  );
  return (await Promise.all(pages)).flat();
}

const NOTHING = { state: null, trouble: null };
const SERVER_AWAY =
  'No Temporal server answers: this is what the store has, without plan, measurements and cycles. See holdfast doctor.';

async function liveFacts(
  client: HoldfastClient | undefined,
  { tenant, goalId, ended }: { tenant: string; goalId: string; ended: boolean },
): Promise<Pick<GoalFacts, 'state' | 'trouble'>> {
  if (client === undefined) return { state: null, trouble: SERVER_AWAY };
  if (ended) return NOTHING;
  try {
    const state = await client.goal(goalId, tenant).state(STATE_LIMIT_MS);
    const trouble = state.refused === undefined ? null : `Not opened: ${state.refused.message}`;
    return { state, trouble };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === 'RunNotFound') return NOTHING;
    return { state: null, trouble: error.message };
  }
}

function noGoal(goalId: string): HoldfastError {
  return new HoldfastError('RunNotFound', `There is no goal ${goalId.slice(0, 200)}.`, {
    hint: 'List the goals with `holdfast goal list`; runs are shown by `holdfast show`.',
  });
}

/** What the server calls a run was looked for as a goal. */
function asNoGoal(goalId: string) {
  return (error: unknown): never => {
    throw error instanceof HoldfastError && error.code === 'RunNotFound' ? noGoal(goalId) : error;
  };
}

function hintsIn(cli: Cli, session: Session, options: TenantOptions): HintsOf {
  const hints = commandHints(cli, session);
  return (asking) => hints({ ...asking, tenant: tenantOf(options) });
}

async function print(facts: GoalFacts, output: Output, hints: HintsOf): Promise<void> {
  const { goalId, goal, state, record, asks, trouble } = facts;
  const { paint } = output;
  const lines = (texts: readonly string[]): void => {
    for (const text of texts) output.line(text);
  };
  const status = state?.status ?? goal?.status ?? 'unknown';
  output.line(
    `${paint.bold(inert(goalId))} ${inert(state?.agent ?? goal?.agent ?? '')}: ${status}`,
  );
  output.line(`“${inert(state?.objective ?? goal?.goalPreview ?? '', 500)}”`);
  const from = goal?.forked;
  if (from !== undefined) output.line(`fork of ${inert(from.runId)} after step ${from.step}`);
  if (trouble !== null) output.line(paint.yellow(inert(trouble, 1_000)));
  if (goal !== null) output.line(moneyLine(goal, state));
  if (state !== null) lines(stateLines(state));
  if (record !== null) {
    lines(['', ...planLines(record.plan, paint)]);
    const measured = measurementLines(record, paint);
    if (measured.length > 0) lines(['', ...measured]);
    const review = record.reviews.at(-1);
    if (review !== undefined) lines(['', ...reviewLines(review, paint)]);
    if (record.childRuns.length > 0) lines(['', cycleTable(record, output)]);
  }
  const printCard = cardPrinter({ output, hints });
  for (const ask of asks) await printCard(ask.runId, ask);
  if (goal?.result !== undefined) printGoalResult(goal.result, output);
}

function moneyLine(goal: RunRow, state: GoalView | null): string {
  const spent = goal.costMicroUsd ?? state?.spentMicroUsd ?? goal.spentMicroUsd ?? 0;
  const budget = state?.budget?.maxCostMicroUsd ?? goal.budgetMicroUsd;
  const reserved = state?.reservedMicroUsd ?? 0;
  const of = budget === undefined ? '' : ` of ${usdText(budget)}`;
  const held = reserved === 0 ? '' : `, ${usdText(reserved)} reserved`;
  return `${usdText(spent)}${of} spent${held} · started ${dateTimeText(goal.startedAt)}`;
}

export function stateLines(state: GoalView): readonly string[] {
  const { cycle, sleep, paused, cycles, reviews, checkpoints, unreadMessages } = state;
  const now = Date.now();
  const until = sleep?.until === undefined ? 'until it is woken' : relativeText(sleep.until, now);
  return [
    [
      plural(cycles, 'cycle'),
      plural(reviews, 'review'),
      plural(checkpoints, 'checkpoint'),
      `segment ${state.segment}`,
    ].join(' · '),
    ...(cycle === undefined
      ? []
      : [`Cycle ${cycle.n} is open: run ${inert(cycle.runId)} of ${inert(cycle.agent)}`]),
    ...(sleep === undefined || paused !== undefined
      ? []
      : [`Sleeps, ${until}: ${inert(sleep.because)}`]),
    ...(paused === undefined ? [] : [`Paused by ${inert(paused.by)}`]),
    ...(unreadMessages === 0
      ? []
      : [
          `${plural(unreadMessages, 'message')} ${unreadMessages === 1 ? 'waits' : 'wait'} for the next cycle`,
        ]),
    ...state.done.map(({ condition, verdict }) => `${verdict}: ${inert(condition, 500)}`),
  ];
}

function cycleTable({ childRuns }: GoalRecord, output: Output): string {
  const rows = childRuns.slice(-CYCLES_SHOWN).map((child) => {
    const { n, runId, agent, stopReason, detail, costMicroUsd } = child;
    const end = detail === undefined ? stopReason : `${stopReason}: ${detail}`;
    return [String(n), runId, agent, usdText(costMicroUsd), end];
  });
  return table({ head: ['cycle', 'run', 'agent', 'cost', 'ended'], rows, paint: output.paint });
}

export function addGoalWatch(goal: Command, cli: Cli): void {
  const command = goal
    .command('watch')
    .description(
      'Print the events of a goal as they happen, until it ends. Ctrl-C leaves it running. Events of a cycle: holdfast watch RUN.',
    )
    .argument('<goal>', 'goal id')
    .option('--since <seq>', 'first event wanted', (text) =>
      wholeNumber('--since', [0, Number.MAX_SAFE_INTEGER])(text),
    )
    .option('--all', 'also events that only say that things go their way');
  withJson(withPlace(withTenant(command)), 'one event per line')
    .addHelpText(
      'after',
      examples('holdfast goal watch march', 'holdfast goal watch march --json | jq .type'),
    )
    .action(
      (goalId: string, options: Options & { readonly since?: number; readonly all?: boolean }) =>
        runCommand(cli, options, async (session, output) => {
          const client = (await session.client()).forTenant(tenantOf(options));
          const { since, all } = options;
          const wanted = {
            ...(since !== undefined && { since }),
            ...(all !== undefined && { all }),
            everything: true,
          };
          const following = { output, hints: hintsIn(cli, session, options) };
          return followGoal(client.goal(goalId), following, wanted).catch(asNoGoal(goalId));
        }),
    );
}

export function addGoalLog(goal: Command, cli: Cli): void {
  const command = goal
    .command('log')
    .description(
      'Print the progress log of a goal, oldest first: when, in which cycle, what ended, what brought it on, reviews and words of people, with their evidence.',
    )
    .argument('<goal>', 'goal id')
    .option('--last <count>', `how many of its last entries (default ${LOG_DEFAULT})`, (text) =>
      wholeNumber('--last', [1, 1_000])(text),
    );
  withJson(withPlace(withTenant(command)), '{goalId, log, reviews}')
    .addHelpText(
      'after',
      examples('holdfast goal log march', 'holdfast goal log march --last 200 --json'),
    )
    .action((goalId: string, options: Options & { readonly last?: number }) =>
      runCommand(cli, options, async (session, output) => {
        const client = (await session.client()).forTenant(tenantOf(options));
        const { log, reviews, childRuns } = await client
          .goal(goalId)
          .record()
          .catch(asNoGoal(goalId));
        const last = options.last ?? LOG_DEFAULT;
        const entries = log.slice(-last);
        output.data({ goalId, log: entries, reviews: reviews.slice(-last) });
        if (entries.length === 0) return output.line('Nothing is noted yet.');
        for (const line of logLines(entries, childRuns, output.paint)) output.line(line);
      }),
    );
}

export function addGoalBrief(goal: Command, cli: Cli): void {
  const command = goal
    .command('brief')
    .description(
      'Show what the agent of a cycle was told, with the estimated tokens of each section: of the newest cycle, unless --cycle says otherwise.',
    )
    .argument('<goal>', 'goal id')
    .option('--cycle <number>', 'of this cycle', (text) =>
      wholeNumber('--cycle', [1, Number.MAX_SAFE_INTEGER])(text),
    );
  withJson(
    withPlace(withTenant(command)),
    '{n, runId, agent, hash, tokens, sections, task, context}',
  )
    .addHelpText(
      'after',
      examples('holdfast goal brief march', 'holdfast goal brief march --cycle 3 --json'),
    )
    .action((goalId: string, options: Options & { readonly cycle?: number }) =>
      runCommand(cli, options, async (session, output) => {
        const client = (await session.client()).forTenant(tenantOf(options));
        const brief = await client.goal(goalId).brief(options.cycle);
        output.data(brief);
        const { paint } = output;
        output.line(`${paint.bold(`Brief of cycle ${brief.n}`)} ${inert(brief.runId)}`);
        const rows = Object.entries(brief.sections).map(([name, tokens]) => [name, String(tokens)]);
        const total = ['all', String(brief.tokens)];
        output.line(table({ head: ['section', 'tokens'], rows: [...rows, total], paint }));
        output.line('');
        for (const line of inertLines(brief.task, BRIEF_CHARS_MAX)) output.line(line);
        for (const { origin, cycle, by, text } of brief.context) {
          output.line(paint.dim(`— ${inert(origin)}, cycle ${cycle}, by ${inert(by)}`));
          for (const line of inertLines(text, BRIEF_CHARS_MAX)) output.line(line);
        }
      }),
    );
}

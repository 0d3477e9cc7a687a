/** `holdfast show`: everything about one run, also about one that ended long ago. */
import type { Command } from 'commander';
import type { HoldfastClient, RunSummary, Wait } from '../../client/index.js';
import { summaryOf } from '../../client/read/run-summary.js';
import {
  commandHints,
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type AskingRun,
  type DeskOptions,
  type HintsOf,
  type TenantOptions,
} from '../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { HoldfastError } from '../../core/state/errors.js';
import { printResult } from '../terminal/follow.js';
import {
  factsAtDesk,
  NOT_UNDER_WAY,
  unlessStoreAway,
  withoutStore,
  type Live,
  type RunFacts,
} from '../desk/run-at-desk.js';
import { lastEvents, noSuchRun, withSources } from '../desk/run-record.js';
import { NOTHING_PAID, paidIn, routeLines } from '../desk/run-routes.js';
import { lackedText, restoredIn } from '../desk/restored.js';
import type { Output } from '../terminal/output.js';
import {
  approvalCard,
  archivalLine,
  costLine,
  dateTimeText,
  eventLine,
  inert,
  isDetail,
  mendWait,
  mendWaitNow,
  sourceLines,
  usdText,
  waitLine,
  type Paint,
} from '../render/index.js';
import { storeMissingToo } from '../missing-store.js';
import type { Session } from '../session.js';
import type { RunView } from '../../core/state/view.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { Execution } from '../../client/runs/execution.js';
import {
  isEndByTemporal,
  isOwnEnd,
  isTemporalsAlone,
  type ListedStatus,
} from '../../pure/listed-status.js';
import { joinerIn } from '../desk/joined.js';
import { agentPathText } from '../../pure/agent-path.js';
import type { RunName } from '../../store/changes.js';
import { wholeNumber } from '../usage.js';

const EVENTS_DEFAULT = 500;
const EVENTS_MAX = 100_000;
const ASKS_MAX = 200;
const CHILDREN_MAX = 200;
const FORKS_MAX = 100;
const ARCHIVALS_MAX = 100;
/** The store tells most; a run that does not answer is not waited for long. */
const STATE_LIMIT_MS = 2_500;

/** As far as the words of an event. */
const INDENT = ' '.repeat(25);

const NOT_STORED =
  'The store has nothing of this run, or not yet; set HOLDFAST_STORE to the store of its workers.';

const SERVER_AWAY: Live = {
  ...NOT_UNDER_WAY,
  trouble: 'No Temporal server answers: this is what the store has. See holdfast doctor.',
};

interface ShowOptions extends DeskOptions, TenantOptions {
  readonly events?: number;
  readonly all?: boolean;
}

export function addShow(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description(
      'Show a run: what it waits for and since when, its events, its questions, what it spent, how it ended.',
    )
    .argument('<run>', 'run id')
    .option(
      '--events <count>',
      `how many of its last events (default ${EVENTS_DEFAULT})`,
      eventCount,
    )
    .option('--all', 'also events that only say that things go their way');
  withJson(
    withPlace(withDesk(withTenant(command))),
    '{runId, run, state, trouble, waits: [{for, since, activity, attempts, message, nextAt}], storeAway, children: [{runId, agentPath, status, …}], forks: [{runId, step, at}], asks, events, archive, routes: [{model, calls, usage, costMicroUsd}]}',
  )
    .addHelpText(
      'after',
      examples('holdfast show run_01J…', 'holdfast show my-run --json | jq .run'),
    )
    .action((runId: string, options: ShowOptions) =>
      runCommand(cli, options, async (session, output) => {
        const count = options.events ?? EVENTS_DEFAULT;
        const api = readingDeskOf(cli, options);
        const facts =
          api === undefined
            ? await factsOf(session, { tenant: tenantOf(options), runId }, count).catch(
                storeMissingToo(cli.environment, options),
              )
            : await factsAtDesk(api, runId, count);
        const { paid, ...others } = facts;
        output.data({ ...others, routes: paid.routes });
        if (output.json) return;
        const hintsOf = commandHints(cli, session);
        const tenant = tenantOf(options);
        const hints = (asking: AskingRun) => hintsOf({ tenant, ...asking });
        const told = { tenant, all: options.all === true };
        await print(facts, { session, output, hints, ...told });
      }),
    );
}

function eventCount(text: string): number {
  return wholeNumber('--events', [0, EVENTS_MAX])(text);
}

async function factsOf(session: Session, name: RunName, count: number): Promise<RunFacts> {
  const { runId } = name;
  const stored = await storedFacts(session, name, count).catch(unlessStoreAway);
  if (typeof stored === 'string') {
    const client = await session.clientWithoutStore();
    const live = await liveFacts(client.forTenant(name.tenant), runId);
    const trouble = live.trouble === null ? stored : `${stored} ${live.trouble}`;
    return { ...withoutStore(runId, stored), ...live, trouble };
  }
  const { run } = stored;
  const ended = run?.result !== undefined;
  const client = ended ? undefined : await clientFor(session, run !== null);
  const nobody = ended ? NOT_UNDER_WAY : SERVER_AWAY;
  const { end, ...live }: AskedLive =
    client === undefined ? nobody : await liveFacts(client.forTenant(name.tenant), runId);
  if (run === null && live.state === null && live.trouble === null) throw noSuchRun(runId);
  return { ...stored, ...live, ...(run && end && { run: { ...run, status: end } }) };
}

/** `end`: how it ended, as Temporal has it, while the store has no result of it. */
type AskedLive = Live & { readonly end?: ListedStatus };

type StoredFacts = Omit<RunFacts, keyof Live>;

/** Errors: StoreUnavailable. */
async function storedFacts(
  session: Session,
  { tenant, runId }: RunName,
  count: number,
): Promise<StoredFacts> {
  const store = await session.wholeStore();
  const nothing = {
    runId,
    run: null,
    children: [],
    forks: [],
    asks: [],
    events: [],
    paid: NOTHING_PAID,
    archive: null,
    storeAway: false,
  };
  if (store === undefined) return nothing;
  const run = (await store.getRun(tenant, runId)) ?? null;
  const asks = await store.listAsks(tenant, { under: runId, limit: ASKS_MAX });
  const below = await store.listRuns(tenant, { parent: runId, limit: CHILDREN_MAX });
  const subAgents = below.filter(({ root }) => root !== undefined);
  const { rows } = await joinerIn(session, store, tenant).standingRows(subAgents);
  const children = rows.map(summaryOf).reverse();
  const forks = await store.forksOf(tenant, runId, FORKS_MAX);
  const last = run?.lastSeq ?? -1;
  const since = Math.max(0, last + 1 - count);
  const name = { tenant, runId };
  const events = await withSources(store, name, await lastEvents(store, name, { since, count }));
  const archive = await store.listArchivals({ run: name, limit: ARCHIVALS_MAX });
  const paid = await paidIn(session, name);
  return { ...nothing, run, children, forks, asks, events, paid, archive };
}

/** A run that the store does not know must be asked about; one that it knows may be. */
function clientFor(session: Session, known: boolean): Promise<HoldfastClient | undefined> {
  return known ? session.tryClient() : session.client();
}

async function liveFacts(client: HoldfastClient, runId: string): Promise<AskedLive> {
  const handle = client.handle(runId);
  const described = handle.execution();
  const waits = described.then(
    (execution) => execution.waits,
    () => [],
  );
  try {
    const state = await handle.state(STATE_LIMIT_MS);
    // A worker answers for what it knew before.
    const end = endIn(await described);
    if (isTemporalsAlone(end)) {
      return { ...NOT_UNDER_WAY, trouble: await endOf(client, runId), end };
    }
    const trouble =
      state.refused === undefined
        ? lostWords(await described)
        : `Not opened: ${state.refused.message}`;
    return { state, trouble, waits: await waits, ...(end && { end }) };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    // A run that failed at its very start answers nothing, but Temporal knows it.
    const execution = await described;
    if (execution.closed) {
      const end = endIn(execution);
      return { ...NOT_UNDER_WAY, trouble: await endOf(client, runId), ...(end && { end }) };
    }
    const failing =
      execution.attempt > 1
        ? ` The workflow task of the run failed, or was lost with a worker, and is tried again (attempt ${execution.attempt}); see holdfast doctor.`
        : '';
    return { state: null, trouble: `${error.message}${failing}`, waits: await waits };
  }
}

/** Nothing that workers tell names what ends them. */
export function lostWords({ activities }: Pick<Execution, 'activities'>): string | null {
  const lost = activities.filter((one) => one.lost === true);
  const words = lost.map(
    ({ type, summary, attempt, lastFailure = '' }) =>
      `${type}${summary === undefined ? '' : ` ${summary}`} is in attempt ${attempt}; the last one ended with "${lastFailure}": its worker died, or was too slow, perhaps because of it.`,
  );
  return words.length === 0 ? null : words.join(' ');
}

function endIn({ status, closed, said }: Execution): ListedStatus | undefined {
  const word = status.toLowerCase();
  if (isEndByTemporal(word)) return word;
  return closed && isOwnEnd(said) ? said : undefined;
}

/** Why a run without a result ended. */
async function endOf(client: HoldfastClient, runId: string): Promise<string> {
  return client
    .handle(runId)
    .result({ timeoutMs: 5_000 })
    .then(
      (result) => `The run ended: ${result.stopReason}.`,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
}

interface Printing {
  readonly session: Session;
  readonly output: Output;
  readonly tenant: string;
  readonly all: boolean;
  readonly hints: HintsOf;
}

async function print(facts: RunFacts, printing: Printing): Promise<void> {
  const { output, hints, all } = printing;
  const { run, state, events, trouble } = facts;
  const { paint } = output;
  const first = events[0]?.stamp.seq ?? 0;
  if (run !== null) {
    const model = run.model === '' ? '' : ` on ${inert(run.model)}`;
    output.line(`${paint.bold(inert(run.runId))} ${inert(run.agent)}${model}`);
    output.line(`${run.status} · started ${dateTimeText(run.startedAt)}`);
    output.line(`“${inert(run.goalPreview)}”`);
    for (const line of forkLines(facts)) output.line(line);
  } else if (state !== null) {
    output.line(`${paint.bold(inert(facts.runId))} ${inert(state.agent ?? '')}: ${state.status}`);
    if (!facts.storeAway && state.refused === undefined) {
      output.line((await lackedText(printing.session, state)) ?? NOT_STORED);
    }
  } else if (facts.storeAway) {
    output.line(paint.bold(inert(facts.runId)));
  }
  if (trouble !== null) output.line(paint.yellow(inert(trouble, 1_000)));
  if (run?.result === undefined && state?.stop !== undefined) {
    const isCopy = (await restoredIn(printing.session)) !== undefined;
    output.line(paint.yellow(stoppingLine(state.stop, isCopy)));
  }
  for (const line of waitLines(facts, paint)) output.line(paint.yellow(line));
  for (const line of archiveLines(facts)) output.line(paint.yellow(line));
  if (events.length > 0) output.line('');
  if (first > 0)
    output.line(
      paint.dim(`(${first} earlier events; --events ${first + events.length} shows all)`),
    );
  for (const event of events) {
    if (all || !isDetail(event)) output.line(eventLine(event, { paint }));
    for (const line of sourceLines(event.sources)) output.line(paint.dim(`${INDENT}${line}`));
  }
  for (const line of routeLines(facts.paid)) output.line(paint.dim(line));
  for (const line of childLines(facts.children)) output.line(line);
  if (run?.result !== undefined) return printResult(run.result, { ...printing, events });
  const before = new Set<string>();
  for (const { ask, ...asking } of openAsks(facts)) {
    const { first: needed, ...commands } = await hints(asking);
    if (needed !== undefined) before.add(needed);
    const { runId } = asking;
    const { storeAway } = facts;
    output.line(approvalCard(ask, { runId, now: Date.now(), paint, storeAway, ...commands }));
  }
  for (const needed of before) output.remark(needed);
  if (state === null) return;
  output.line(paint.dim(costLine(state.counters)));
  if (facts.children !== undefined && facts.children.length > 0) output.line(paint.dim(COUNTED));
}

/** The totals by route have open sub-agents as well. */
const COUNTED =
  'Money and tokens of this line are those of the run and of its sub-agents that have ended; calls are those of the run alone.';

/** Of which run it is a fork, and its own forks, the newest first. */
function forkLines({ run, forks = [] }: RunFacts): readonly string[] {
  const from = run?.forked;
  return [
    ...(from === undefined ? [] : [`fork of ${inert(from.runId)} after step ${from.step}`]),
    ...forks.map(({ runId, step, at }) => {
      const began = dateTimeText(at);
      return `forked after step ${step}: ${inert(runId)}, ${began}`;
    }),
  ];
}

/** How it ends is decided; what is left waits, if at all, for what the lines below say. */
function stoppingLine({ status, reason }: NonNullable<RunView['stop']>, isCopy: boolean): string {
  const where = isCopy ? 'is not in the restored store, or not stored yet' : 'is not stored yet';
  return `${status} (${reason}); its last record ${where}`;
}

/** Its own sub-agents, the oldest first. */
function childLines(children: readonly RunSummary[] = []): readonly string[] {
  return children.map(({ runId, agentPath = [], status, costMicroUsd }) => {
    const cost = costMicroUsd === undefined ? '' : `, ${usdText(costMicroUsd)}`;
    return `sub-agent ${inert(agentPathText(agentPath))}: ${status}${cost}, ${inert(runId)}`;
  });
}

function waitLines({ waits, run }: RunFacts, { own }: Paint): readonly string[] {
  const now = Date.now();
  // A run that was read came from the store that it waits for.
  const mend = (wait: Wait): string =>
    run === null ? mendWait(wait.for, wait.activity) : mendWaitNow(wait, now);
  return waits.flatMap((wait) => [waitLine(wait, now), `→ ${own(mend(wait))}`]);
}

function archiveLines({ archive }: RunFacts): readonly string[] {
  const now = Date.now();
  return (archive ?? []).flatMap((one) => archivalLine(one, now) ?? []);
}

/** Of the run itself, as it says where it can be asked, and of the sub-agents below it. */
function openAsks({ runId, run, asks, state }: RunFacts) {
  const isOver = isEndByTemporal(run?.status) || isOwnEnd(run?.status);
  const pending = asks.filter((ask) => ask.outcome === 'pending');
  const stored = pending.filter((ask) => !isOver || ask.runId !== runId);
  const below = stored.filter((ask) => ask.runId !== runId);
  const own: readonly AskView[] = state?.asks ?? stored.filter((ask) => ask.runId === runId);
  // Of a run that the store does not have only the run itself says whose it is.
  const agent = run === null ? state?.agent : undefined;
  return [
    ...own.map((ask) => ({ ask, runId, ...(agent !== undefined && { agents: [agent] }) })),
    ...below.map((ask) => ({ ask, runId: ask.runId })),
  ];
}

/** `holdfast show`: everything about one run, also about one that ended long ago. */
import type { Command } from 'commander';
import type { HoldfastClient } from '../../client/index.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type DeskOptions,
  type TenantOptions,
} from '../actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { HoldfastError } from '../../core/errors.js';
import { printResult } from '../follow.js';
import { factsAtDesk, type RunFacts } from '../run-at-desk.js';
import { lastEvents, noSuchRun } from '../run-record.js';
import type { Output } from '../output.js';
import {
  approvalCard,
  archivalLine,
  costLine,
  dateTimeText,
  eventLine,
  inert,
  isDetail,
} from '../render/index.js';
import type { Session } from '../session.js';
import type { AskRow } from '../../store/asks.js';
import type { RunName } from '../../store/changes.js';
import { wholeNumber } from '../usage.js';

const EVENTS_DEFAULT = 500;
const EVENTS_MAX = 100_000;
const ASKS_MAX = 200;
const ARCHIVALS_MAX = 100;
/** The store tells most; a run that does not answer is not waited for long. */
const STATE_LIMIT_MS = 2_500;

interface ShowOptions extends DeskOptions, TenantOptions {
  readonly events?: number;
  readonly all?: boolean;
}

export function addShow(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('Show a run: its events, its questions, what it spent, how it ended.')
    .argument('<run>', 'run id')
    .option(
      '--events <count>',
      `how many of its last events (default ${EVENTS_DEFAULT})`,
      eventCount,
    )
    .option('--all', 'also events that only say that things go their way');
  withJson(
    withPlace(withDesk(withTenant(command))),
    '{runId, run, state, trouble, asks, events, archive}',
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
            ? await factsOf(session, { tenant: tenantOf(options), runId }, count)
            : await factsAtDesk(api, runId, count);
        output.data(facts);
        if (!output.json) await print(facts, { session, output, all: options.all === true });
      }),
    );
}

function eventCount(text: string): number {
  return wholeNumber('--events', [0, EVENTS_MAX])(text);
}

async function factsOf(
  session: Session,
  { tenant, runId }: RunName,
  count: number,
): Promise<RunFacts> {
  const store = await session.wholeStore();
  const run = (await store?.getRun(tenant, runId)) ?? null;
  const ended = run?.result !== undefined;
  const client = ended ? undefined : await clientFor(session, run !== null);
  const live =
    client === undefined
      ? { state: null, trouble: null }
      : await liveFacts(client.forTenant(tenant), runId);
  if (run === null && live.state === null && live.trouble === null) throw noSuchRun(runId);
  const asks = (await store?.listAsks(tenant, { runId, limit: ASKS_MAX })) ?? [];
  const last = run?.lastSeq ?? -1;
  const since = Math.max(0, last + 1 - count);
  const name = { tenant, runId };
  const events = store === undefined ? [] : await lastEvents(store, name, { since, count });
  const archive =
    store === undefined ? null : await store.listArchivals({ run: name, limit: ARCHIVALS_MAX });
  return { runId, run, ...live, asks, events, archive };
}

/** A run that the store does not know must be asked about; one that it knows may be. */
function clientFor(session: Session, known: boolean): Promise<HoldfastClient | undefined> {
  return known ? session.tryClient() : session.client();
}

async function liveFacts(
  client: HoldfastClient,
  runId: string,
): Promise<Pick<RunFacts, 'state' | 'trouble'>> {
  try {
    return { state: await client.handle(runId).state(STATE_LIMIT_MS), trouble: null };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    // A run that failed at its very start answers nothing, but Temporal knows it.
    const execution = await client.handle(runId).execution();
    if (execution.closed) return { state: null, trouble: await endOf(client, runId) };
    const failing =
      execution.attempt > 1 ? ' Its workflow task keeps failing; see holdfast doctor.' : '';
    return { state: null, trouble: `${error.message}${failing}` };
  }
}

/** Why a run without a result ended. */
async function endOf(client: HoldfastClient, runId: string): Promise<string> {
  return client
    .handle(runId)
    .result({ timeoutMs: 5_000 })
    .then(
      (result) => `It ended: ${result.stopReason}.`,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
}

interface Printing {
  readonly session: Session;
  readonly output: Output;
  readonly all: boolean;
}

async function print(facts: RunFacts, { session, output, all }: Printing): Promise<void> {
  const { run, state, asks, events, trouble } = facts;
  const { paint } = output;
  const first = events[0]?.stamp.seq ?? 0;
  if (run !== null) {
    output.line(`${paint.bold(inert(run.runId))} ${inert(run.agent)} on ${inert(run.model)}`);
    output.line(`${run.status} · started ${dateTimeText(run.startedAt)}`);
    output.line(`“${inert(run.goalPreview)}”`);
  } else if (state !== null) {
    output.line(`${paint.bold(inert(facts.runId))} ${inert(state.agent ?? '')}: ${state.status}`);
    output.line(
      'The store has nothing of this run; set HOLDFAST_STORE to the store of its workers.',
    );
  }
  if (trouble !== null) output.line(paint.yellow(inert(trouble, 1_000)));
  for (const line of archiveLines(facts)) output.line(paint.yellow(line));
  if (events.length > 0) output.line('');
  if (first > 0)
    output.line(
      paint.dim(`(${first} earlier events; --events ${first + events.length} shows all)`),
    );
  for (const event of events) {
    if (all || !isDetail(event)) output.line(eventLine(event, { paint }));
  }
  if (run?.result !== undefined) return printResult(run.result, { session, output });
  for (const ask of openAsks(asks, state)) {
    output.line(approvalCard(ask, { runId: facts.runId, now: Date.now(), paint }));
  }
  if (state !== null) output.line(paint.dim(costLine(state.counters)));
}

function archiveLines({ archive }: RunFacts): readonly string[] {
  const now = Date.now();
  return (archive ?? []).flatMap((one) => archivalLine(one, now) ?? []);
}

function openAsks(asks: readonly AskRow[], state: RunFacts['state']) {
  return state?.asks ?? asks.filter((ask) => ask.outcome === 'pending');
}

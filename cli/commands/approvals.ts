/** `holdfast approvals`: what waits for a person, and what one of it rests on. */
import type { Command } from 'commander';
import type { AskOutcome } from '../../core/state/ask-kinds.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { OpenAsk } from '../../core/state/view.js';
import type { AsksFilter } from '../../store/asks.js';
import type { ShownPlace } from '../../store/tree-place.js';
import { isStoreAway } from '../../store/away.js';
import { shownPlace } from '../../store/place.js';
import {
  commandHints,
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type ActorOptions,
  type CommandHints,
  type TenantOptions,
} from '../desk/actor.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import type { Output } from '../terminal/output.js';
import {
  LIMIT_DEFAULT,
  moreRemark,
  mergedPage,
  pageOf,
  pagesAtDesk,
  someText,
  withPages,
  type Page,
  type PageOptions,
} from '../desk/paging.js';
import type { Place } from '../../console/http/cursor.js';
import { lackedAsks, restoredIn, restoredRemark } from '../desk/restored.js';
import { approvalCard, byText, inert } from '../render/index.js';
import type { Session } from '../session.js';
import { unservedRemark } from '../desk/unserved.js';
import { oneOf } from '../usage.js';

interface ApprovalsOptions extends ActorOptions, TenantOptions, PageOptions {
  readonly run?: string;
  readonly kind?: AskedKind;
  readonly search?: string;
  readonly all?: boolean;
}

/** With `outcome` where the store tells how it ended. */
type ListedQuestion = AskView &
  ShownPlace & {
    readonly runId: string;
    readonly outcome?: AskOutcome;
    readonly by?: readonly string[];
    /** Of an open question that several have to agree on; absent: nobody can say. */
    readonly votes?: OpenAsk['votes'];
  };

type AskedQuestions = Page<ListedQuestion> & {
  /** The run alone told its questions. */
  readonly storeAway?: true;
  /** Why the store does not serve, where the run itself was asked. */
  readonly trouble?: string;
};

/** A conversation that waits for its user's next message is no decision. */
const KINDS = ['approval', 'outcome', 'budget', 'input'] as const;
type AskedKind = (typeof KINDS)[number];

export function addApprovals(program: Command, cli: Cli): void {
  const command = program
    .command('approvals')
    .alias('inbox')
    .description('List what waits for a person, oldest first, with the commands that answer.')
    .option('--run <id>', 'only of this run and of the sub-agents below it')
    .option('--kind <kind>', `only these: ${KINDS.join(', ')}`, oneOf('kind', KINDS))
    .option(
      '--search <text>',
      'only those in which this stands: in their arguments, words, ids',
      someText('--search'),
    )
    .option('--all', 'also those that have ended');
  withJson(
    withPlace(withDesk(withTenant(withPages(command)))),
    '{asks: [{askId, runId, root?, agentPath?, kind, tool, args, argsHash, roles, …}], next, storeAway?, trouble?, restoredAt?}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast approvals',
        "holdfast approvals --search 'A-1'",
        'holdfast approvals --all --kind outcome',
        "holdfast approvals --json | jq -r '.asks[].askId'",
      ),
    )
    .action((options: ApprovalsOptions) =>
      runCommand(cli, options, async (session, output) => {
        const page = await withVotes(cli, session, {
          options,
          page: await askedOf(cli, session, options),
        });
        const { items: asks, next, storeAway = false, trouble, restoredAt } = page;
        const away = storeAway && { storeAway, ...(trouble !== undefined && { trouble }) };
        const older = restoredAt !== undefined && { restoredAt };
        output.data({ asks, ...(next !== undefined && { next }), ...away, ...older });
        if (restoredAt !== undefined) output.remark(restoredRemark(restoredAt));
        if (output.json) return;
        const hints = commandHints(cli, session);
        if (!storeAway && options.all !== true && readingDeskOf(cli, options) === undefined) {
          const unserved = await unservedRemark(session).catch(() => undefined);
          if (unserved !== undefined) output.remark(unserved);
        }
        await print(page, output, ({ runId, agentPath: agents }) =>
          hints({ runId, tenant: tenantOf(options), ...(agents && { agents }) }),
        );
      }),
    );
}

async function askedOf(
  cli: Cli,
  session: Session,
  options: ApprovalsOptions,
): Promise<AskedQuestions> {
  const { run, kind, search, all, cursor, limit = LIMIT_DEFAULT } = options;
  const api = readingDeskOf(cli, options);
  if (api !== undefined) {
    const state = all === true ? 'all' : 'pending';
    const wanted = { state, kind, runId: run, search, limit, ...(cursor && { cursor }) };
    return pagesAtDesk<ListedQuestion>(api, '/v1/inbox', wanted);
  }
  try {
    const page = await fromStore(session, options);
    return await withLacked(session, options, page);
  } catch (error) {
    if (!isStoreAway(error) || error.details?.['noStore'] === true) throw error;
    if (run === undefined || search !== undefined || cursor !== undefined || all === true)
      throw untilBack(error);
    return { ...(await fromRun(session, options)), storeAway: true, trouble: error.message };
  }
}

/** The same with what can be done until the store is back. */
function untilBack({ message, hint = '', details, cause }: HoldfastError): HoldfastError {
  return new HoldfastError('StoreUnavailable', message, {
    hint: `${hint} Until then \`holdfast list\` names the runs that Temporal has, \`holdfast approvals --run RUN\` the questions of one of them, and \`holdfast approve ASK --run RUN\` (or reject, answer), as you say who you are otherwise, decides.`.trim(),
    ...(details !== undefined && { details }),
    cause,
  });
}

/** Of a store that was restored lately: with the questions that runs alone know. */
async function withLacked(
  session: Session,
  options: ApprovalsOptions,
  page: Page<ListedQuestion>,
): Promise<AskedQuestions> {
  const { run, kind, search, cursor, all, limit = LIMIT_DEFAULT } = options;
  if (search !== undefined || all === true) {
    const restoredAt = await restoredIn(session);
    return { ...page, ...(restoredAt !== undefined && { restoredAt }) };
  }
  const wanted: readonly string[] = kind === undefined ? KINDS : [kind];
  const { asks, ...told } = await lackedAsks(session, { tenant: tenantOf(options), run });
  // As rows of the store say it.
  const lacked = asks
    .filter((ask) => wanted.includes(ask.kind))
    .map((ask): ListedQuestion => ({ ...ask, outcome: 'pending' }));
  return { ...mergedPage<ListedQuestion>(page, lacked, { limit, cursor, placeOfRow }), ...told };
}

function placeOfRow({ openedAt, askId }: ListedQuestion): Place {
  return { at: openedAt, id: askId };
}

async function fromStore(
  session: Session,
  options: ApprovalsOptions,
): Promise<Page<ListedQuestion>> {
  const { run, kind, search, all, cursor, limit = LIMIT_DEFAULT } = options;
  const store = await session.store();
  if (store === undefined) return fromRun(session, options);
  const filter: AsksFilter = {
    kinds: kind === undefined ? KINDS : [kind],
    ...(run !== undefined && { under: run }),
    ...(search !== undefined && { search }),
  };
  const query = {
    ...filter,
    limit,
    ...(cursor !== undefined && { after: { openedAt: cursor.at, askId: cursor.id } }),
  };
  // The server knows of runs that have ended without a word to the store.
  const client = all === true ? undefined : await session.tryClient();
  const tenant = tenantOf(options);
  const rows = await (client === undefined
    ? store.listAsks(tenant, { ...query, pendingOnly: all !== true })
    : client.forTenant(tenant).listAsks(query));
  return pageOf<ListedQuestion>(rows, limit, placeOfRow);
}

/** Questions of one page that their runs are asked about. */
const VOTED_MAX = 20;
const VOTES_LIMIT_MS = 1_500;

interface AskedPage {
  readonly options: ApprovalsOptions;
  readonly page: AskedQuestions;
}

/** The run alone knows who has agreed already, where several have to. */
async function withVotes(
  cli: Cli,
  session: Session,
  { options, page }: AskedPage,
): Promise<AskedQuestions> {
  const open = page.items
    .filter(
      ({ quorum, votes, outcome = 'pending' }) => quorum > 1 && !votes && outcome === 'pending',
    )
    .slice(0, VOTED_MAX);
  if (open.length === 0) return page;
  const api = readingDeskOf(cli, options);
  const client = api === undefined ? await session.tryClient() : undefined;
  const votesOf = async ({ askId, runId }: ListedQuestion): Promise<ListedQuestion['votes']> => {
    if (api !== undefined) {
      const item = await api.get(`/v1/inbox/${encodeURIComponent(askId)}`);
      return (item as { readonly votes?: ListedQuestion['votes'] }).votes;
    }
    const view = await client?.forTenant(tenantOf(options)).handle(runId).state(VOTES_LIMIT_MS);
    return view?.asks.find((ask) => ask.askId === askId)?.votes;
  };
  const found = new Map(
    await Promise.all(
      open.map(async (ask) => [ask.askId, await votesOf(ask).catch(() => undefined)] as const),
    ),
  );
  const items = page.items.map((ask) => {
    const votes = found.get(ask.askId);
    return votes === undefined ? ask : { ...ask, votes };
  });
  return { ...page, items };
}

/** Without a store only the run itself knows its questions. */
async function fromRun(session: Session, options: ApprovalsOptions): Promise<Page<ListedQuestion>> {
  const { run: runId, kind, search, cursor } = options;
  if (runId === undefined || search !== undefined || cursor !== undefined) {
    throw new HoldfastError(
      'StoreUnavailable',
      `There is no store at ${shownPlace(session.place.storePlace)}.`,
      {
        hint: 'Set HOLDFAST_STORE to the store of your workers, or ask one run with --run.',
        details: { noStore: true },
      },
    );
  }
  const client = (await session.clientWithoutStore()).forTenant(tenantOf(options));
  const asks = await client.handle(runId).pendingApprovals();
  const wanted: readonly string[] = kind === undefined ? KINDS : [kind];
  const { limit = LIMIT_DEFAULT } = options;
  const fitting = asks.filter((ask) => wanted.includes(ask.kind)).slice(0, limit);
  return { items: fitting.map((ask) => ({ ...ask, runId })) };
}

const TROUBLE_CHARS_MAX = 400;
const RUN_ALONE = 'These are the questions of the run itself, without those of its sub-agents.';

async function print(
  page: AskedQuestions,
  output: Output,
  hints: (ask: ListedQuestion) => Promise<CommandHints>,
): Promise<void> {
  const { items: asks, storeAway = false, trouble = '' } = page;
  if (storeAway) output.remark(`${inert(trouble, TROUBLE_CHARS_MAX)} ${RUN_ALONE}`.trim());
  if (asks.length === 0)
    return output.line(storeAway ? 'The run itself asks nobody.' : 'Nothing waits for a person.');
  const before = new Set<string>();
  for (const ask of asks) {
    const { first, ...commands } = await hints(ask);
    if (first !== undefined) before.add(first);
    const { runId, outcome = 'pending', by = [] } = ask;
    const withoutCommands = outcome !== 'pending';
    const approvedBy = ask.votes
      ?.filter(({ decision }) => decision === 'approve')
      .map(({ by }) => by);
    const voted = approvedBy !== undefined && { approvedBy };
    const card = {
      runId,
      now: Date.now(),
      paint: output.paint,
      withoutCommands,
      storeAway,
      ...voted,
      ...commands,
    };
    output.line(approvalCard(ask, card));
    if (withoutCommands) output.line(`   ${outcome}${byText({ outcome, by })}`);
  }
  for (const first of before) output.remark(first);
  const more = moreRemark(page);
  if (more !== undefined) output.remark(more);
}

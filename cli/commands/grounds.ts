/** `holdfast grounds`: one question, what was said of it so far, and what it rests on. */
import type { Command } from 'commander';
import type { OpenAsk } from '../../core/state/view.js';
import { HoldfastError } from '../../core/state/errors.js';
import { groundsOf, type Grounds } from '../../console/grounds.js';
import { approvedBefore, receiptOf, type Receipt } from '../../console/receipt.js';
import { originWords } from '../../pure/origins.js';
import type { AskRow } from '../../store/asks.js';
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
import type { DeskApi } from '../desk/desk-api.js';
import type { Output } from '../terminal/output.js';
import {
  approvalCard,
  byText,
  dateTimeText,
  receiptLines,
  inert,
  inertJson,
  inertLines,
} from '../render/index.js';
import { neededStore, type Session } from '../session.js';

type GroundsOptions = ActorOptions & TenantOptions;
type Votes = OpenAsk['votes'];

interface Told {
  /** Without what only the run itself needs, where a desk tells it. */
  readonly ask: Omit<AskRow, 'tenant'> & { readonly approvedBy?: readonly string[] };
  /** Absent: no worker answers, or it is decided. */
  readonly votes?: Votes;
  readonly grounds: Grounds;
  /** Absent: it is open, or about no action. */
  readonly receipt?: Receipt;
}

const STATE_LIMIT_MS = 2_500;

export function addGrounds(program: Command, cli: Cli): void {
  const command = program
    .command('grounds')
    .description(
      'Show one question: who has voted, which rule asks, and what the proposal rests on (untrusted).',
    )
    .argument('<ask>', 'id of the question');
  withJson(withPlace(withDesk(withTenant(command))), '{ask, votes, grounds, receipt}')
    .addHelpText('after', examples("holdfast grounds 'run_01J…:3'"))
    .action((askId: string, options: GroundsOptions) =>
      runCommand(cli, options, async (session, output) => {
        const api = readingDeskOf(cli, options);
        const told =
          api === undefined
            ? await fromStore(session, tenantOf(options), askId)
            : await fromDesk(api, askId);
        output.data(told);
        if (output.json) return;
        const { runId, agentPath: agents } = told.ask;
        const run = { runId, tenant: tenantOf(options), ...(agents && { agents }) };
        print(told, output, await commandHints(cli, session)(run));
      }),
    );
}

interface More {
  readonly votes?: Votes;
  readonly receipt?: Receipt;
}

async function fromDesk(api: DeskApi, askId: string): Promise<Told> {
  const path = `/v1/inbox/${encodeURIComponent(askId)}`;
  const { votes, receipt, ...ask } = (await api.get(path)) as unknown as AskRow & More;
  const grounds = (await api.get(`${path}/grounds`)) as unknown as Grounds;
  return {
    ask,
    ...(votes !== undefined && { votes }),
    ...(receipt !== undefined && { receipt }),
    grounds,
  };
}

async function fromStore(session: Session, tenant: string, askId: string): Promise<Told> {
  const store = await neededStore(session);
  const ask = await store.getAsk(tenant, askId);
  if (ask === undefined) {
    throw new HoldfastError('AskNotFound', `There is no question ${inert(askId)}.`, {
      hint: 'List them with `holdfast approvals --all`.',
    });
  }
  const votes = ask.outcome === 'pending' ? await votesOn(session, ask) : undefined;
  const [grounds, receipt, end] = await Promise.all([
    groundsOf(store, ask),
    receiptOf(store, ask),
    approvedBefore(store, ask),
  ]);
  return {
    ask: { ...ask, ...end },
    ...(votes !== undefined && { votes }),
    ...(receipt !== undefined && { receipt }),
    grounds,
  };
}

/** The run alone knows them. */
async function votesOn(session: Session, ask: AskRow): Promise<Votes | undefined> {
  try {
    const client = (await session.tryClient())?.forTenant(ask.tenant);
    const view = await client?.handle(ask.runId).state(STATE_LIMIT_MS);
    return view?.asks.find(({ askId }) => askId === ask.askId)?.votes;
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

function print(
  { ask, votes, grounds, receipt }: Told,
  { line, paint, remark }: Output,
  { first, ...commands }: CommandHints,
): void {
  const withoutCommands = ask.outcome !== 'pending';
  const approvedBy = votes?.filter(({ decision }) => decision === 'approve').map(({ by }) => by);
  const voted = approvedBy !== undefined && { approvedBy };
  const { runId } = ask;
  const shown = { runId, now: Date.now(), paint, withoutCommands, ...voted, ...commands };
  line(approvalCard(ask, shown));
  const { outcome, by: deciders, approvedBy: by = deciders } = ask;
  if (withoutCommands) line(`   ${outcome}${byText({ outcome, by })}`);
  for (const { by, decision, decidedAt } of votes ?? []) {
    line(`${paint.bold('Vote')}      ${inert(by)}: ${decision}, ${dateTimeText(decidedAt)}`);
  }
  const { rule, ruleReason, goal, proposal, corrections, sources, more, origins } = grounds;
  const isAnswer = ask.kind === 'input';
  if (receipt?.content !== undefined && isAnswer) block('Answer', receipt.content.text);
  else if (receipt !== undefined) for (const said of receiptLines(receipt)) line(said);
  for (const { path, as, ...origin } of origins) {
    const { before, tool = '', after } = originWords(origin);
    const raw = as === 'raw' ? '' : ' (as people write it)';
    line(`${paint.bold('Origin')}    ${inert(path)}${raw} ${before}${inert(tool)}${after}`);
  }
  if (rule !== undefined) {
    const why = ruleReason === undefined ? '' : `: ${inert(ruleReason)}`;
    line(`${paint.bold('Rule')}      ${inert(rule)}${why}`);
  }
  if (goal !== undefined) block('Task', goal.text);
  if (proposal?.text !== undefined) block(`Said by ${inert(proposal.model)}`, proposal.text.text);
  for (const { by, corrected } of corrections) {
    const what = corrected === undefined ? '' : inertJson(corrected).join(' ');
    line(`${paint.bold('Corrected')} by ${inert(by.join(', '))}: ${what}`);
  }
  if (sources.length > 0) {
    line(paint.bold('Read before, from outside, untrusted:'));
    if (more) line(paint.dim('(and more before that)'));
  }
  for (const { kind, tool, content } of sources) {
    block(kind === 'user' ? 'The user' : inert(tool ?? 'a tool'), content.text);
  }
  if (first !== undefined && !withoutCommands) remark(first);

  /** Behind a border, as on a card: what is said cannot pretend to be part of this. */
  function block(name: string, text: string): void {
    line(`${paint.bold(name)}`);
    for (const said of inertLines(text)) line(`│ ${said}`);
  }
}

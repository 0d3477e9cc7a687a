/** `holdfast approvals`: what waits for a person. */
import type { Command } from 'commander';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { HoldfastError } from '../../core/errors.js';
import type { AskView } from '../../core/event.js';
import { shownPlace } from '../../store/place.js';
import type { Output } from '../output.js';
import { approvalCard } from '../render/index.js';
import type { Session } from '../session.js';
import { wholeNumber } from '../usage.js';

const TENANT = 'default';
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;

interface ApprovalsOptions extends CommonOptions {
  readonly run?: string;
  readonly limit?: number;
}

type Pending = AskView & { readonly runId: string };

export function addApprovals(program: Command, cli: Cli): void {
  const command = program
    .command('approvals')
    .description('List what waits for a person, oldest first, with the commands that answer.')
    .option('--run <id>', 'only of this run')
    .option('--limit <count>', `at most this many (default ${LIMIT_DEFAULT})`, limit);
  withJson(withPlace(command), '{asks: [{askId, runId, kind, tool, args, argsHash, roles, …}]}')
    .addHelpText(
      'after',
      examples('holdfast approvals', "holdfast approvals --json | jq -r '.asks[].askId'"),
    )
    .action((options: ApprovalsOptions) =>
      runCommand(cli, options, async (session, output) => {
        const asks = await pending(session, options);
        output.data({ asks });
        print(asks, output);
      }),
    );
}

function limit(text: string): number {
  return wholeNumber('--limit', [1, LIMIT_MAX])(text);
}

async function pending(session: Session, options: ApprovalsOptions): Promise<readonly Pending[]> {
  const { run } = options;
  const store = await session.store();
  if (store === undefined) return fromRun(session, run);
  const found = await store.listAsks(TENANT, {
    pendingOnly: true,
    limit: options.limit ?? LIMIT_DEFAULT,
    ...(run !== undefined && { runId: run }),
  });
  // A conversation that waits for its user's next message is no decision.
  return found.filter((ask) => ask.kind !== 'user_message');
}

/** Without a store only the run itself knows its questions. */
async function fromRun(session: Session, runId: string | undefined): Promise<readonly Pending[]> {
  if (runId === undefined) {
    throw new HoldfastError(
      'StoreUnavailable',
      `There is no store at ${shownPlace(session.place.storePlace)}.`,
      {
        hint: 'Set HOLDFAST_STORE to the store of your workers, or ask one run with --run.',
      },
    );
  }
  const asks = await (await session.client()).handle(runId).pendingApprovals();
  return asks.map((ask) => ({ ...ask, runId }));
}

function print(asks: readonly Pending[], output: Output): void {
  if (asks.length === 0) return output.line('Nothing waits for a person.');
  for (const ask of asks) {
    const { runId } = ask;
    output.line(approvalCard(ask, { runId, now: Date.now(), paint: output.paint }));
  }
}

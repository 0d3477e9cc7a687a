/** `holdfast sessions`: conversations that are kept, newest first. */
import type { Command } from 'commander';
import type { SessionEntry, SessionsQuery } from '../../store/sessions.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { Output } from '../terminal/output.js';
import { dateTimeText, table } from '../render/index.js';
import { TENANT } from '../desk/run-record.js';
import { neededStore, type Session } from '../session.js';
import { wholeNumber } from '../usage.js';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;

interface SessionsOptions extends CommonOptions {
  readonly caller?: string;
  readonly limit?: number;
}

export function addSessions(program: Command, cli: Cli): void {
  const command = program
    .command('sessions')
    .description('List the sessions that are kept, newest first: conversations to go on with.')
    .option('--caller <name>', 'only those of this caller')
    .option('--limit <count>', `at most this many (default ${LIMIT_DEFAULT})`, limit);
  withJson(withPlace(command), '{sessions: […]}')
    .addHelpText(
      'after',
      examples(
        'holdfast sessions',
        "holdfast start support 'And when will it arrive?' --resume run_01J…",
        'holdfast transcript run_01J… --format md > conversation.md',
      ),
    )
    .action((options: SessionsOptions) =>
      runCommand(cli, options, (session, output) => list(session, output, options)),
    );
}

function limit(text: string): number {
  return wholeNumber('--limit', [1, LIMIT_MAX])(text);
}

async function list(session: Session, output: Output, options: SessionsOptions): Promise<void> {
  const query: SessionsQuery = {
    limit: options.limit ?? LIMIT_DEFAULT,
    ...(options.caller !== undefined && { caller: options.caller }),
  };
  const sessions = await (await neededStore(session)).listSessions(TENANT, query);
  output.data({ sessions });
  if (sessions.length === 0) {
    output.line('No sessions. A run keeps its own with --setting persistSession=true.');
    return;
  }
  output.line(
    table({
      head: ['session', 'agent', 'runs', 'caller', 'updated', 'begun with'],
      rows: sessions.map(rowOf),
      paint: output.paint,
    }),
  );
  if (sessions.length === query.limit) {
    output.remark(`The first ${query.limit}; more with --limit.`);
  }
}

function rowOf(entry: SessionEntry): readonly string[] {
  const { sessionId, agent, revision, caller, updatedAt, title } = entry;
  return [sessionId, agent, String(revision), caller, dateTimeText(updatedAt), title.slice(0, 80)];
}

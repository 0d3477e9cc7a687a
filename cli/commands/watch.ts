/** `holdfast watch`: a run's events as they happen. */
import type { Command } from 'commander';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { commandHints } from '../desk/actor.js';
import { followEvents } from '../terminal/follow.js';
import { wholeNumber } from '../usage.js';

interface WatchOptions extends CommonOptions {
  readonly since?: number;
  readonly all?: boolean;
  readonly tokens?: boolean;
  readonly tree: boolean;
}

export function addWatch(program: Command, cli: Cli): void {
  const command = program
    .command('watch')
    .description(
      'Print the events of a run as they happen, until it ends; those of its sub-agents under their calls, with the agents on the way. Ctrl-C leaves it running.',
    )
    .argument('<run>', 'run id')
    .option('--since <seq>', 'first event wanted', sequence)
    .option('--no-tree', 'without the events of its sub-agents')
    .option('--tokens', 'also what models say, while they say it')
    .option('--all', 'also events that only say that things go their way');
  withJson(
    withPlace(command),
    'one event per line; that of a sub-agent has its run in stamp.runId, and the call that started it as parent_tool_use_id',
  )
    .addHelpText(
      'after',
      examples('holdfast watch run_01J…', 'holdfast watch my-run --json | jq .type'),
    )
    .action((runId: string, options: WatchOptions) =>
      runCommand(cli, options, async (session, output) => {
        const client = await session.client();
        const run = client.handle(runId);
        const hints = commandHints(cli, session);
        const following = { session, output, hints: () => hints({ runId }) };
        const handle = (id: string) => client.handle(id);
        return followEvents(run, { ...following, ...(options.tree && { handle }) }, options);
      }),
    );
}

function sequence(text: string): number {
  return wholeNumber('--since', [0, Number.MAX_SAFE_INTEGER])(text);
}

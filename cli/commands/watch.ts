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
import { followEvents } from '../terminal/follow.js';
import { wholeNumber } from '../usage.js';

interface WatchOptions extends CommonOptions {
  readonly since?: number;
  readonly all?: boolean;
}

export function addWatch(program: Command, cli: Cli): void {
  const command = program
    .command('watch')
    .description(
      'Print the events of a run as they happen, until it ends. Ctrl-C leaves it running.',
    )
    .argument('<run>', 'run id')
    .option('--since <seq>', 'first event wanted', sequence)
    .option('--all', 'also events that only say that things go their way');
  withJson(withPlace(command), 'one event per line')
    .addHelpText(
      'after',
      examples('holdfast watch run_01J…', 'holdfast watch my-run --json | jq .type'),
    )
    .action((runId: string, options: WatchOptions) =>
      runCommand(cli, options, async (session, output) => {
        const run = (await session.client()).handle(runId);
        return followEvents(run, { session, output }, options);
      }),
    );
}

function sequence(text: string): number {
  return wholeNumber('--since', [0, Number.MAX_SAFE_INTEGER])(text);
}

/** `holdfast worker`: one worker process. */
import type { Command } from 'commander';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { onInterrupt } from '../terminal/interrupt.js';
import { readConfig, serveWorker } from '../serve.js';

export function withConfig(command: Command): Command {
  return command.option(
    '--config <file>',
    'configuration (HOLDFAST_CONFIG; default: holdfast.config.ts here or in the nearest folder above)',
  );
}

export function addWorker(program: Command, cli: Cli): void {
  const command = program
    .command('worker')
    .description(
      'Run a worker: it serves the agents of the configuration. Ctrl-C or SIGTERM lets running work end first.',
    );
  withJson(withPlace(withConfig(command)), 'one line {serving, address, …} when it serves')
    .addHelpText(
      'after',
      examples(
        'holdfast worker',
        'holdfast worker --config agents/holdfast.config.ts --address temporal:7233',
      ),
    )
    .action((options: CommonOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { environment } = cli;
        const interrupt = onInterrupt();
        try {
          const { place } = session;
          const config = await readConfig(place, environment.folder);
          const reach = await session.reach(config.connection);
          await serveWorker({ place, reach, config, signal: interrupt.signal }, output);
        } finally {
          interrupt.release();
        }
      }),
    );
}

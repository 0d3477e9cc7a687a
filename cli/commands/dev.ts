/** `holdfast dev`: server, worker and approval desk in one process, with the code as it is saved. */
import type { Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { DevOptions } from '../dev/options.js';
import { runDev } from '../dev/run-dev.js';
import { usage, wholeNumber } from '../usage.js';
import { withServerOptions } from './server.js';
import { withConfig } from './worker.js';

export function addDev(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .description(
      'Run everything for development: the embedded server (unless one is named or running), a worker and the approval desk. A saved file is live for runs that begin; runs under way keep their code.',
    )
    .option('--no-console', 'without the approval desk')
    .option('--console-port <number>', 'port of the approval desk (default 8585)', (text) =>
      wholeNumber('A port', [0, 65_535])(text),
    )
    .option('--ask <goal>', 'start a run with this goal when the worker serves, and follow it')
    .option('--agent <name>', 'whom --ask is for (default: the first agent of the configuration)')
    .option('--no-watch', 'serve the code as it is now, whatever is saved');
  withJson(
    withServerOptions(withPlace(withConfig(command))),
    'one line of the server, one of the worker, one of the desk, when each is usable; one {live} or {failed} for each save',
  )
    .addHelpText(
      'after',
      `${examples(
        'holdfast dev',
        'holdfast dev --config demo/holdfast.config.ts',
        "holdfast dev --ask 'Where is order O-104?'",
      )}

Keys at a terminal: r loads the code anew, o opens the desk, q ends as Ctrl-C does.`,
    )
    .action((options: CommonOptions & DevOptions) => {
      if (options.agent !== undefined && options.ask === undefined) {
        throw usage(
          '--agent says whom --ask is for.',
          'Give --ask as well, or use `holdfast start`.',
        );
      }
      return runCommand(cli, options, (session, output) =>
        runDev(cli, { options, session }, output).catch(async (error: unknown) => {
          const named = await session.named().catch(() => undefined);
          throw named?.isNamed === true ? withoutCircle(error) : error;
        }),
      );
    });
}

/** Elsewhere the hint is to start `holdfast dev`. */
export function withoutCircle(error: unknown): unknown {
  if (!(error instanceof HoldfastError) || error.code !== 'ServerUnavailable') return error;
  const { code, message, hint = '', details } = error;
  if (!hint.startsWith('Start one with')) return error;
  return new HoldfastError(code, message, {
    hint: 'HOLDFAST_ADDRESS, --address, the profile or the configuration names this server. Start that server, or leave the name out (`unset HOLDFAST_ADDRESS`): `holdfast dev` then starts its own.',
    ...(details !== undefined && { details }),
    cause: error,
  });
}

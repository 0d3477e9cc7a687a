/** `holdfast server`: the embedded Temporal server in the foreground. */
import type { Command } from 'commander';
import { examples, runCommand, withJson, type Cli, type CommonOptions } from '../command.js';
import { startEmbedded, type ServerOptions } from '../embedded-server.js';
import { HoldfastError } from '../../core/state/errors.js';
import { onInterrupt } from '../terminal/interrupt.js';
import { wholeNumber } from '../usage.js';

const PORT_BOUNDS = [0, 65_535] as const;

/** Options of the embedded server; `dev` has them too. */
export function withServerOptions(command: Command): Command {
  return command
    .option('--port <number>', 'port of the server (default 7233, 0 takes a free one)', port)
    .option('--ui-port <number>', "port of Temporal's web page (default 8233)", port)
    .option('--headless', "without Temporal's web page")
    .option('--binary <file>', 'a `temporal` binary (HOLDFAST_TEMPORAL; default: found or built)');
}

function port(text: string): number {
  return wholeNumber('A port', PORT_BOUNDS)(text);
}

export function addServer(program: Command, cli: Cli): void {
  const command = program
    .command('server')
    .description(
      'Run the embedded Temporal server. Ctrl-C stops it; runs wait in its database for the next start.',
    )
    .option(
      '--home <folder>',
      'data folder (HOLDFAST_HOME; default .holdfast beside the configuration)',
    );
  withJson(
    withServerOptions(command),
    'one line {address, uiUrl, databaseFile, …} when it is usable',
  )
    .addHelpText('after', examples('holdfast server', 'holdfast server --port 0 --headless'))
    .action((options: CommonOptions & ServerOptions) => {
      const interrupt = onInterrupt();
      return runCommand(cli, options, async ({ place }, output) => {
        const { home } = place;
        const server = await startEmbedded(cli.environment, { ...options, home }, output);
        output.line('Ready. Ctrl-C stops it.');
        const interrupted = new Promise<'signal'>((resolve) => {
          if (interrupt.signal.aborted) resolve('signal');
          interrupt.signal.addEventListener('abort', () => resolve('signal'));
        });
        const end = await Promise.race([interrupted, server.exited]);
        await server.stop();
        if (end === 'signal') return output.remark('The server has stopped.');
        throw new HoldfastError(
          'ServerUnavailable',
          `The server ended by itself (${end.signal ?? `code ${String(end.code)}`}).`,
          { hint: `Read ${server.logFile}, then start it again; its database is kept.` },
        );
      }).finally(() => interrupt.release());
    });
}

/** `holdfast console`: the approval desk. */
import type { Command } from 'commander';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { startDesk } from '../desk/desk.js';
import { onInterrupt } from '../terminal/interrupt.js';
import { readConfig } from '../serve.js';
import { wholeNumber } from '../usage.js';
import { withConfig } from './worker.js';

type ConsoleOptions = CommonOptions & { readonly port?: number };

export function addConsole(program: Command, cli: Cli): void {
  const command = program
    .command('console')
    .description('Run the approval desk: its HTTP API and its page. Ctrl-C ends it; runs go on.')
    .option('--port <number>', 'port (default 8585, 0 takes a free one)', (text) =>
      wholeNumber('A port', [0, 65_535])(text),
    );
  withJson(withPlace(withConfig(command)), 'one line {console, token} when it is usable')
    .addHelpText('after', examples('holdfast console', 'holdfast console --port 9000'))
    .action((options: ConsoleOptions) => {
      const interrupt = onInterrupt();
      return runCommand(cli, options, async (session, output) => {
        const { environment } = cli;
        const { place } = session;
        const { port } = options;
        const config = await readConfig(place, environment.folder);
        const reach = await session.reach(config.connection);
        const desk = await startDesk(
          environment,
          { place, reach, config, makeKey: false, ...(port !== undefined && { port }) },
          output,
        );
        output.line('Ready. Ctrl-C ends it.');
        await new Promise<void>((ended) => {
          if (interrupt.signal.aborted) ended();
          interrupt.signal.addEventListener('abort', () => ended());
        });
        await desk.stop();
        output.remark('The console has ended.');
      }).finally(() => interrupt.release());
    });
}

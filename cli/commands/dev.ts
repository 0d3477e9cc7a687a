/** `holdfast dev`: server, worker and approval desk in one process. */
import type { Command } from 'commander';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { runningServer, type ServerHandle } from '../../devserver/index.js';
import type { Environment } from '../../worker/config.js';
import { withoutName, type ServerReach } from '../../worker/reach.js';
import { startDesk, type RunningDesk } from '../desk/desk.js';
import { startEmbedded, type ServerOptions } from '../embedded-server.js';
import { embeddedReach, type KnownReach, type Session } from '../session.js';
import { onInterrupt } from '../terminal/interrupt.js';
import type { Output } from '../terminal/output.js';
import { readConfig, serveAll } from '../serve.js';
import { wholeNumber } from '../usage.js';
import { withServerOptions } from './server.js';
import { withConfig } from './worker.js';

type DevOptions = CommonOptions & ServerOptions & DeskOptions;

interface DeskOptions {
  /** `--no-console` */
  readonly console: boolean;
  readonly consolePort?: number;
}

export function addDev(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .description(
      'Run everything for development: the embedded server (unless one is named or running), a worker and the approval desk.',
    )
    .option('--no-console', 'without the approval desk')
    .option('--console-port <number>', 'port of the approval desk (default 8585)', (text) =>
      wholeNumber('A port', [0, 65_535])(text),
    );
  withJson(
    withServerOptions(withPlace(withConfig(command))),
    'one line of the server, one of the worker, one of the desk, when each is usable',
  )
    .addHelpText('after', examples('holdfast dev', 'holdfast dev --config demo/holdfast.config.ts'))
    .action((options: DevOptions) =>
      runCommand(cli, options, ({ place, named }, output) =>
        dev(cli, { options, place, named }, output),
      ),
    );
}

interface DevPlace {
  readonly options: DevOptions;
  readonly place: Environment;
  readonly named: Session['named'];
}

async function dev(cli: Cli, at: DevPlace, output: Output): Promise<void> {
  const { environment } = cli;
  const { options, place } = at;
  const interrupt = onInterrupt();
  const lost = new AbortController();
  let server: ServerHandle | undefined;
  let desk: RunningDesk | undefined;
  try {
    const config = await readConfig(place, environment.folder);
    const named = await at.named(config.connection);
    const known = await knownReach(named, place, output);
    if (known === undefined) {
      server = await startEmbedded(environment, { ...options, home: place.home }, output);
      void server.exited.then(() => lost.abort());
    }
    const reach = known ?? embeddedReach(named, server?.address ?? named.address);
    if (interrupt.signal.aborted) return;
    desk = await deskBeside(cli, { ...at, reach, config }, output);
    const signal = AbortSignal.any([interrupt.signal, lost.signal]);
    const path = environment.variables['PATH'];
    await serveAll(
      { place, reach, config, signal, path, servesQueues: true, stackTraces: true },
      output,
    );
    if (lost.signal.aborted && !interrupt.signal.aborted) throw serverLost(server);
  } finally {
    // The worker has drained before; the server goes last.
    await desk?.stop();
    await server?.stop();
    interrupt.release();
  }
}

/** The desk; without it everything else is still of use, so a taken port is only told. */
async function deskBeside(
  cli: Cli,
  {
    options,
    place,
    reach,
    config,
  }: DevPlace & { readonly reach: KnownReach; readonly config: Config },
  output: Output,
): Promise<RunningDesk | undefined> {
  if (!options.console) return undefined;
  const { consolePort: port } = options;
  const at = { place, reach, config, makeKey: true, ...(port !== undefined && { port }) };
  try {
    return await startDesk(cli.environment, at, output);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'PortTaken') throw error;
    output.remark(`${error.message} The approval desk does not run; choose --console-port.`);
    return undefined;
  }
}

/** A server that is named or runs already; undefined when one must be started. */
async function knownReach(
  named: ServerReach,
  place: Environment,
  output: Output,
): Promise<KnownReach | undefined> {
  if (named.isNamed) {
    output.line(`Temporal server  ${named.address} (named)`);
    return withoutName(named);
  }
  const running = await runningServer(place.home);
  if (running === undefined || running.orphaned) return undefined;
  output.line(`Temporal server  ${running.address} (already running)`);
  output.line(`Temporal UI      ${running.uiUrl ?? 'off'}`);
  return embeddedReach(named, running.address);
}

function serverLost(server: ServerHandle | undefined): HoldfastError {
  return new HoldfastError('ServerUnavailable', 'The embedded server ended by itself.', {
    hint: `Read ${server?.logFile ?? 'its log'}, then run \`holdfast dev\` again; its database is kept.`,
  });
}

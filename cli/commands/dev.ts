/** `holdfast dev`: server and worker in one process. */
import { resolve } from 'node:path';
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
import { runningServer, type ServerHandle } from '../../devserver/index.js';
import type { Environment } from '../../worker/config.js';
import { startEmbedded, type ServerOptions } from '../embedded-server.js';
import { variablesWith } from '../environment.js';
import { onInterrupt } from '../interrupt.js';
import type { Output } from '../output.js';
import { readConfig, serveWorker } from '../serve.js';
import { withServerOptions } from './server.js';
import { withConfig, type ConfigOptions } from './worker.js';

type DevOptions = CommonOptions & ServerOptions & ConfigOptions;

export function addDev(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .description(
      'Run everything for development: the embedded server (unless one is named or running) and a worker.',
    );
  withJson(
    withServerOptions(withPlace(withConfig(command))),
    'one line of the server, one of the worker, when each is usable',
  )
    .addHelpText('after', examples('holdfast dev', 'holdfast dev --config demo/holdfast.config.ts'))
    .action((options: DevOptions) =>
      runCommand(cli, options, ({ place }, output) => dev(cli, { options, place }, output)),
    );
}

interface Asked {
  readonly options: DevOptions;
  readonly place: Environment;
}

async function dev(cli: Cli, { options, place: given }: Asked, output: Output): Promise<void> {
  const { environment } = cli;
  const interrupt = onInterrupt();
  const file = options.config;
  const place = {
    ...given,
    ...(file !== undefined && { configFile: resolve(environment.folder, file) }),
  };
  const lost = new AbortController();
  let server: ServerHandle | undefined;
  try {
    const config = await readConfig(place, environment.folder);
    const known = await knownAddress(cli, { options, place }, output);
    if (known === undefined) {
      server = await startEmbedded(environment, { ...options, home: place.home }, output);
      void server.exited.then(() => lost.abort());
    }
    const address = known ?? server?.address ?? place.address;
    if (interrupt.signal.aborted) return;
    const signal = AbortSignal.any([interrupt.signal, lost.signal]);
    await serveWorker({ place, address, config, signal }, output);
    if (lost.signal.aborted && !interrupt.signal.aborted) throw serverLost(server);
  } finally {
    // The worker has drained before; the server goes last.
    await server?.stop();
    interrupt.release();
  }
}

/** A server that is named or runs already; undefined when one must be started. */
async function knownAddress(
  cli: Cli,
  { options, place }: Asked,
  output: Output,
): Promise<string | undefined> {
  if (variablesWith(cli.environment, options).HOLDFAST_ADDRESS !== undefined) return place.address;
  const running = await runningServer(place.home);
  if (running === undefined || running.orphaned) return undefined;
  output.line(`Temporal server  ${running.address} (already running)`);
  output.line(`Temporal UI      ${running.uiUrl ?? 'off'}`);
  return running.address;
}

function serverLost(server: ServerHandle | undefined): HoldfastError {
  return new HoldfastError('ServerUnavailable', 'The embedded server ended by itself.', {
    hint: `Read ${server?.logFile ?? 'its log'}, then run \`holdfast dev\` again; its database is kept.`,
  });
}

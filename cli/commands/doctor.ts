/** `holdfast doctor`: what is wrong here, and how to mend it. */
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
import { guarded, type Check } from '../doctor/check.js';
import { signingKeyFile } from '../desk.js';
import { checkConfiguration } from '../doctor/configuration.js';
import { checkHome, checkLeftBehind, checkNode } from '../doctor/machine.js';
import { checkServer } from '../doctor/server.js';
import { checkStore } from '../doctor/store.js';
import { variablesWith } from '../environment.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { inert } from '../render/index.js';
import type { Session } from '../session.js';
import { withConfig, type ConfigOptions } from './worker.js';

type DoctorOptions = CommonOptions & ConfigOptions;

export function addDoctor(program: Command, cli: Cli): void {
  const command = program
    .command('doctor')
    .description(
      'Check Node, server, namespace, workers, store, histories that are not archived, configuration, model key and stuck runs (also those that have waited for a worker, the store or the like for more than 60 s). Exits with 1 when something is broken.',
    );
  withJson(withPlace(withConfig(command)), '{ok, checks: [{name, status, found, mend}]}')
    .addHelpText('after', examples('holdfast doctor', 'holdfast doctor --json'))
    .action((options: DoctorOptions) =>
      runCommand(cli, options, async (session, output) => {
        const checks = await allChecks(cli, session, options);
        const healthy = checks.every(({ status }) => status !== 'broken');
        output.data({ ok: healthy, checks });
        for (const check of checks) print(check, output);
        return healthy ? EXIT.completed : EXIT.error;
      }),
    );
}

async function allChecks(
  cli: Cli,
  session: Session,
  options: DoctorOptions,
): Promise<readonly Check[]> {
  const { environment } = cli;
  const { config: file } = options;
  const place = {
    ...session.place,
    ...(file !== undefined && { configFile: resolve(environment.folder, file) }),
  };
  const addressGiven = variablesWith(environment, options).HOLDFAST_ADDRESS !== undefined;
  const server = await checkServer(session, addressGiven);
  // The key is the worker's: when one runs, it may well have what this shell has not.
  const served = server.some(({ name, status }) => name === 'workers' && status === 'ok');
  const keyFile = signingKeyFile(environment, place.home);
  const configuration = { place, folder: environment.folder, served };
  return [
    ...checkNode(),
    ...(await guarded('data folder', () => checkHome(place))),
    ...(await guarded('store', () => checkStore(place, keyFile))),
    ...(await guarded('configuration', () => checkConfiguration(configuration))),
    ...server,
    ...(await guarded('left behind', () => checkLeftBehind(place))),
  ];
}

const MARKS = { ok: 'ok', warning: 'note', broken: 'BROKEN' } as const;
const MARK_WIDTH = 7;
const NAME_WIDTH = 18;

function print({ name, status, found, mend }: Check, output: Output): void {
  const { paint } = output;
  const colour = { ok: paint.green, warning: paint.yellow, broken: paint.red }[status];
  const mark = colour(MARKS[status].padEnd(MARK_WIDTH));
  output.line(`${mark} ${name.padEnd(NAME_WIDTH)} ${inert(found, 1_000)}`);
  if (mend !== undefined)
    output.line(`${' '.repeat(MARK_WIDTH + NAME_WIDTH + 2)}→ ${inert(mend, 1_000)}`);
}

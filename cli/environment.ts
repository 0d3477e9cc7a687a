/** What the process was given: variables, folder, terminal. Besides worker/config.ts the only reader. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { HOME, storePlaceIn } from '../worker/config.js';
import { shownPlace } from '../store/place.js';
import { invocationOf, SERVE, type GivenPlace } from './render/called.js';
import { packageFolder } from './version.js';

export interface CliEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** Colours on standard output: a terminal, and nobody said no. */
  readonly colour: boolean;
  /** Characters of a line; absent: standard output is no terminal. */
  readonly columns?: number;
  readonly interactive: boolean;
  /** How the program was called, `npx holdfast` for example; absent: by its name. */
  readonly invocation?: string;
  /** Where the pages of the documents lie, as the folder names it. */
  readonly docs?: string;
  /** What the command line says of the place; absent: nothing. */
  readonly given?: GivenPlace;
  /** Longest wait for an answer that a worker must give, in ms; absent: that of a client. */
  readonly workerLimitMs?: number;
}

/** What of it says how to speak. */
export function speechOf({
  colour,
  columns,
  invocation,
  given,
  docs,
}: CliEnvironment): Pick<CliEnvironment, 'colour' | 'columns' | 'invocation' | 'given' | 'docs'> {
  return {
    colour,
    ...(columns !== undefined && { columns }),
    ...(invocation !== undefined && { invocation }),
    ...(given && { given }),
    ...(docs !== undefined && { docs }),
  };
}

export function cliEnvironment(): CliEnvironment {
  const { env } = process;
  const { isTTY, columns } = process.stdout;
  const noColour = (env.NO_COLOR !== undefined && env.NO_COLOR !== '') || env.TERM === 'dumb';
  return {
    variables: env,
    folder: process.cwd(),
    colour: isTTY === true && !noColour,
    ...(isTTY && columns > 0 && { columns }),
    interactive: process.stdin.isTTY === true && isTTY === true,
    invocation: invocationOf(process.argv[1] ?? '', env.npm_config_user_agent),
    ...docsSeen(),
  };
}

function docsSeen(): Pick<CliEnvironment, 'docs'> {
  const docs = join(packageFolder(), 'docs');
  if (!existsSync(docs)) return {};
  const seen = relative(process.cwd(), docs);
  return { docs: seen.startsWith('..') ? docs : seen };
}

/** Options that every command has in place of the environment's. */
export interface PlaceOptions {
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
  readonly store?: string;
  readonly home?: string;
  /** Of commands that serve. */
  readonly config?: string;
  /** Of `holdfast worker`. */
  readonly probeAddress?: string;
  readonly metricsAddress?: string;
}

/** The variables as the options change them; the worker reads the same names. */
export function variablesWith(
  environment: CliEnvironment,
  options: PlaceOptions,
): Readonly<Record<string, string | undefined>> {
  const given = {
    HOLDFAST_ADDRESS: options.address,
    HOLDFAST_NAMESPACE: options.namespace,
    HOLDFAST_TASK_QUEUE: options.taskQueue,
    HOLDFAST_STORE: options.store && storePlaceIn(environment.folder, options.store),
    HOLDFAST_CONFIG: options.config && resolve(environment.folder, options.config),
    HOLDFAST_PROBE_ADDRESS: options.probeAddress,
    HOLDFAST_METRICS_ADDRESS: options.metricsAddress,
    HOLDFAST_HOME: options.home && resolve(environment.folder, options.home),
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...environment.variables, ...Object.fromEntries(set) };
}

/** Options of the command of this name, for the commands that its sentences name. A password is left out. */
export function givenBy(
  name: string,
  { address, namespace, taskQueue, store, home, config, desk }: PlaceOptions & { desk?: unknown },
  { HOLDFAST_HOME }: CliEnvironment['variables'],
): GivenPlace {
  const served = SERVE.test(name) ? config : undefined;
  // Other commands find the data of that configuration by its folder.
  const beside = HOLDFAST_HOME === undefined && served !== undefined;
  const given = {
    '--address': address,
    '--namespace': namespace,
    '--task-queue': taskQueue,
    '--store': store === undefined ? undefined : shownPlace(store),
    '--home': home ?? (beside ? join(dirname(served), HOME) : undefined),
    '--config': served,
    '--desk': typeof desk === 'string' ? desk : undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

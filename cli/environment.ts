/** What the process was given: variables, folder, terminal. Besides worker/config.ts the only reader. */
import { resolve } from 'node:path';
import { storePlaceIn } from '../worker/config.js';
import { invocationOf } from './render/called.js';

export interface CliEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** Colours on standard output: a terminal, and nobody said no. */
  readonly colour: boolean;
  readonly interactive: boolean;
  /** How the program was called, `npx holdfast` for example; absent: by its name. */
  readonly invocation?: string;
  /** Longest wait for an answer that a worker must give, in ms; absent: that of a client. */
  readonly workerLimitMs?: number;
}

/** What of it says how to speak. */
export function speechOf({
  colour,
  invocation,
}: CliEnvironment): Pick<CliEnvironment, 'colour' | 'invocation'> {
  return { colour, ...(invocation !== undefined && { invocation }) };
}

export function cliEnvironment(): CliEnvironment {
  const { env } = process;
  const noColour = (env.NO_COLOR !== undefined && env.NO_COLOR !== '') || env.TERM === 'dumb';
  return {
    variables: env,
    folder: process.cwd(),
    colour: process.stdout.isTTY === true && !noColour,
    interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    invocation: invocationOf(process.argv[1] ?? '', env.npm_config_user_agent),
  };
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
    HOLDFAST_HOME: options.home && resolve(environment.folder, options.home),
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...environment.variables, ...Object.fromEntries(set) };
}

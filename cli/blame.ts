/** Errors that name a variable of the environment where somebody has given the option in its place. */
import { HoldfastError } from '../core/state/errors.js';
import type { PlaceOptions } from './environment.js';

const VARIABLES: {
  readonly [option in keyof PlaceOptions]-?: readonly [flag: string, name: string];
} = {
  address: ['--address', 'HOLDFAST_ADDRESS'],
  namespace: ['--namespace', 'HOLDFAST_NAMESPACE'],
  taskQueue: ['--task-queue', 'HOLDFAST_TASK_QUEUE'],
  store: ['--store', 'HOLDFAST_STORE'],
  home: ['--home', 'HOLDFAST_HOME'],
  config: ['--config', 'HOLDFAST_CONFIG'],
  probeAddress: ['--probe-address', 'HOLDFAST_PROBE_ADDRESS'],
  metricsAddress: ['--metrics-address', 'HOLDFAST_METRICS_ADDRESS'],
};

/** The same error in the words of the command line. */
export function blamingOptions(error: unknown, options: PlaceOptions): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const given = Object.entries(VARIABLES).filter(
    ([option]) => options[option as keyof PlaceOptions] !== undefined,
  );
  const inOptions = (text: string): string =>
    given.reduce((words, [, [flag, name]]) => {
      const both = new RegExp(`${flag} or ${name}\\b|${name} or ${flag}\\b`, 'g');
      return words
        .replace(both, flag)
        .replace(new RegExp(`(T|t)he environment variable ${name}\\b`, 'g'), '$1he option ' + flag)
        .replace(new RegExp(`\\b${name}\\b(?!_)`, 'g'), flag);
    }, text);
  const message = inOptions(error.message);
  const hint = error.hint === undefined ? undefined : inOptions(error.hint);
  if (message === error.message && hint === error.hint) return error;
  const { code, details } = error;
  return new HoldfastError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
    cause: error,
  });
}

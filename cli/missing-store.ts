/** A store that somebody named, and that is not there: told beside a server that does not answer, or what Temporal tells. */
import { HoldfastError } from '../core/state/errors.js';
import { shownPlace, storeExists } from '../store/place.js';
import { readEnvironment } from '../worker/config.js';
import { variablesWith, type CliEnvironment, type PlaceOptions } from './environment.js';

/** That the store which somebody named is not there; undefined: it is, or nobody named one. */
export function storeMissing(
  environment: CliEnvironment,
  options: PlaceOptions,
): string | undefined {
  const variables = variablesWith(environment, options);
  if (variables['HOLDFAST_STORE'] === undefined) return undefined;
  const { storePlace: place } = readEnvironment(variables, environment.folder);
  return storeExists(place) ? undefined : `There is no store at ${shownPlace(place)}.`;
}

/** Rethrows. A store that is not there is told only where somebody named it. */
export function storeMissingToo(environment: CliEnvironment, options: PlaceOptions) {
  return (error: unknown): never => {
    if (!(error instanceof HoldfastError) || error.code !== 'ServerUnavailable') throw error;
    const missing = storeMissing(environment, options);
    if (missing === undefined) throw error;
    const { code, message, hint = '', details } = error;
    throw new HoldfastError(code, `${missing} ${message}`, {
      hint: `A past run is read from the store of its workers without a server: name that store with --store or HOLDFAST_STORE. ${hint}`.trim(),
      ...(details !== undefined && { details }),
      cause: error,
    });
  };
}

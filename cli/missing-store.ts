/** A server that does not answer, where the store that somebody named is not there either: one of two things to mend. */
import { HoldfastError } from '../core/state/errors.js';
import { shownPlace, storeExists } from '../store/place.js';
import { readEnvironment } from '../worker/config.js';
import { variablesWith, type CliEnvironment, type PlaceOptions } from './environment.js';

/** Rethrows. A store that is not there is told only where somebody named it. */
export function storeMissingToo(environment: CliEnvironment, options: PlaceOptions) {
  return (error: unknown): never => {
    if (!(error instanceof HoldfastError) || error.code !== 'ServerUnavailable') throw error;
    const variables = variablesWith(environment, options);
    if (variables['HOLDFAST_STORE'] === undefined) throw error;
    const { storePlace: place } = readEnvironment(variables, environment.folder);
    if (storeExists(place)) throw error;
    const { code, message, hint = '', details } = error;
    throw new HoldfastError(code, `There is no store at ${shownPlace(place)}. ${message}`, {
      hint: `A past run is read from the store of its workers without a server: name that store with --store or HOLDFAST_STORE. ${hint}`.trim(),
      ...(details !== undefined && { details }),
      cause: error,
    });
  };
}

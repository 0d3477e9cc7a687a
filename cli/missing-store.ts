/** A server that does not answer, where the store that somebody named is not there either: one of two things to mend. */
import { HoldfastError } from '../core/state/errors.js';
import { shownPlace, storeExists } from '../store/place.js';
import type { CliEnvironment, PlaceOptions } from './environment.js';

/** Rethrows. `placeOf`: where the store is, whoever named it. */
export function storeMissingToo(
  { variables }: CliEnvironment,
  options: PlaceOptions,
  placeOf: () => string,
) {
  const isNamed = (options.store ?? variables['HOLDFAST_STORE']) !== undefined;
  return (error: unknown): never => {
    if (!(error instanceof HoldfastError) || error.code !== 'ServerUnavailable') throw error;
    if (!isNamed || storeExists(placeOf())) throw error;
    const place = placeOf();
    const { code, message, hint = '', details } = error;
    throw new HoldfastError(code, `There is no store at ${shownPlace(place)}. ${message}`, {
      hint: `A past run is read from the store of its workers without a server: name that store with --store or HOLDFAST_STORE. ${hint}`.trim(),
      ...(details !== undefined && { details }),
      cause: error,
    });
  };
}

/** A server that does not answer, where the store that somebody named is not there either: one of two things to mend. */
import { HoldfastError } from '../core/state/errors.js';
import { shownPlace, storeExists } from '../store/place.js';

/** Rethrows. `placeOf`: of the store that was named; undefined where nobody named one. */
export function storeMissingToo(placeOf: () => string | undefined) {
  return (error: unknown): never => {
    if (!(error instanceof HoldfastError) || error.code !== 'ServerUnavailable') throw error;
    const place = placeOf();
    if (place === undefined || storeExists(place)) throw error;
    const { code, message, hint = '', details } = error;
    throw new HoldfastError(code, `There is no store at ${shownPlace(place)}. ${message}`, {
      hint: `A past run is read from the store of its workers without a server: name that store with --store or HOLDFAST_STORE. ${hint}`.trim(),
      ...(details !== undefined && { details }),
      cause: error,
    });
  };
}

/** Why a worker's process cannot listen somewhere, in the words of the desk. */
import { HoldfastError } from '../core/state/errors.js';

export interface Listening {
  /** What listens, with its article. */
  readonly what: string;
  readonly address: string;
  /** What names another address. */
  readonly options: string;
}

export function listenFailure(
  { what, address, options }: Listening,
  { isTaken, cause }: { readonly isTaken: boolean; readonly cause: unknown },
): HoldfastError {
  return new HoldfastError(
    isTaken ? 'PortTaken' : 'InvalidConfig',
    isTaken
      ? `Port ${address.slice(address.lastIndexOf(':') + 1)} is taken.`
      : `${what} cannot listen on ${address}.`,
    { hint: `Choose another one: ${options}.`, cause },
  );
}

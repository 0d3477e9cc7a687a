/** Reaching the Temporal server, with a bounded wait and an error that says what to do. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import { HoldfastError } from '../core/state/errors.js';

const ATTEMPTS_MAX = 10;
const PAUSE_MS = 500;

export interface ServerPlace {
  readonly address: string;
  /** Default 10: five seconds for a server that is just starting. */
  readonly attemptsMax?: number;
}

export async function connect(place: ServerPlace): Promise<NativeConnection> {
  const attemptsMax = place.attemptsMax ?? ATTEMPTS_MAX;
  let cause: unknown;
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    try {
      return await NativeConnection.connect({ address: place.address });
    } catch (error) {
      cause = error;
      if (attempt < attemptsMax) await sleep(PAUSE_MS);
    }
  }
  throw new HoldfastError('ServerUnavailable', `No Temporal server answers at ${place.address}.`, {
    hint: 'Start one with `holdfast dev`, or set HOLDFAST_ADDRESS to yours.',
    cause,
  });
}

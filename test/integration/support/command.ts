/** The `holdfast` command as people run it, within the test's process. */
import { runCli } from '../../../cli/program.js';
import { PATIENT } from './patience.js';
import type { ServerPlace } from './server.js';
import type { World } from './world.js';

export interface CommandPlace extends ServerPlace {
  readonly store: string;
  /** Default: a patient one. */
  readonly workerLimitMs?: number | undefined;
}

export interface Spoken {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type Placed = Pick<World, 'place' | 'storePlace' | 'patience'>;

export function placeOf({ place, storePlace, patience }: Placed): CommandPlace {
  return { ...place, store: storePlace, workerLimitMs: patience.workerLimitMs };
}

/** No terminal, no configuration, and a data folder that is not there. */
export async function holdfast(
  { address, namespace, store, workerLimitMs = PATIENT.workerLimitMs }: CommandPlace,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Spoken> {
  const reach = ['--address', address, '--namespace', namespace];
  let out = '';
  let err = '';
  const code = await runCli([...words, ...reach, '--store', store, '--home', '/nowhere'], {
    environment: {
      variables,
      folder: '/nowhere',
      colour: false,
      interactive: false,
      workerLimitMs,
    },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

/** The `holdfast` command as people run it, within the test's process. */
import { runCli } from '../../../cli/program.js';
import type { World } from './world.js';

export interface CommandPlace {
  readonly address: string;
  readonly store: string;
}

export interface Spoken {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export function placeOf({
  server,
  storePlace,
}: Pick<World, 'server' | 'storePlace'>): CommandPlace {
  return { address: server.address, store: storePlace };
}

/** No terminal, no configuration, and a data folder that is not there. */
export async function holdfast(
  { address, store }: CommandPlace,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Spoken> {
  let out = '';
  let err = '';
  const code = await runCli(
    [...words, '--address', address, '--store', store, '--home', '/nowhere'],
    {
      environment: { variables, folder: '/nowhere', colour: false, interactive: false },
      streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
    },
  );
  return { code, out, err };
}

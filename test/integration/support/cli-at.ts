/** The commands in this process, on a server and a folder of their own. */
import { join } from 'node:path';
import { runCli } from '../../../cli/program.js';

export interface CliPlace {
  readonly folder: string;
  readonly address: string;
  /** Of the environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

export async function holdfastAt(at: CliPlace, argv: readonly string[]) {
  const { folder, address, variables = {} } = at;
  let out = '';
  let err = '';
  const place = ['--address', address, '--store', join(folder, 'store.db')];
  const code = await runCli([...argv, ...place], {
    environment: { variables, folder, colour: false, interactive: false },
    streams: {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    },
  });
  return { code, out, err };
}

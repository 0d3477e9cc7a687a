/** What an agent says of the sandbox of its runs. */
import { resolve } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { isRecord } from '../pure/options.js';

const PATH_CHARS_MAX = 4_096;
const FIELDS: readonly string[] = ['seed'];

export interface AgentSandbox {
  /**
   * A folder of the worker's machine that the work folder of each run begins with, as a path; a relative one is below the working
   * directory of the process. Default: the work folder is empty.
   */
  readonly seed?: string;
}

/** The path of the seed, absolute; undefined: none is named. Errors: InvalidAgent. */
export function seedOf(agent: string, sandbox: unknown): string | undefined {
  if (sandbox === undefined) return undefined;
  const isObject = isRecord(sandbox);
  const unknown = isObject ? Object.keys(sandbox).find((key) => !FIELDS.includes(key)) : '';
  const { seed } = (isObject ? sandbox : {}) as { readonly seed?: unknown };
  const isPath =
    typeof seed === 'string' &&
    seed.trim() !== '' &&
    seed.length <= PATH_CHARS_MAX &&
    !seed.includes('\0');
  if (isObject && unknown === undefined && (seed === undefined || isPath))
    return typeof seed === 'string' ? resolve(seed) : undefined;
  throw new HoldfastError('InvalidAgent', `Agent ${agent}: its sandbox cannot be used.`, {
    hint: "Give it a folder to begin with, sandbox: { seed: './starter' }, and nothing else.",
  });
}

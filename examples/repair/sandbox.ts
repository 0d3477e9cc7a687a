/**
 * Where code of the repository runs: in Holdfast's isolation, with a file system that it cannot write to. Here it is a
 * command line, because a test asks it and not an agent; tools of agents have `ctx.sandbox`.
 */
import { join } from 'node:path';
import { findIsolation } from '../../index.js';

export interface Sandbox {
  readonly name: 'bubblewrap' | 'none';
  /** The command that answers questions of the tests: `folder` has the code in `src` and `test/driver.mjs`. */
  command(folder: string): readonly string[];
}

export type SandboxFound =
  | { readonly kind: 'found'; readonly sandbox: Sandbox }
  | { readonly kind: 'missing'; readonly because: string };

const HEAP_MB = 64;
const LIMITS = ['--cpu=10', '--data=700000000', '--nproc=40', '--fsize=0', '--core=0'];

/** Looked for in PATH; every machine tries it out, because not every one lets it work. */
export function findSandbox(
  environment: Readonly<Record<string, string | undefined>>,
): SandboxFound {
  const found = findIsolation(environment['PATH'] ?? '');
  if (found.kind === 'missing') return found;
  const { isolation } = found;
  const command: Sandbox['command'] = (folder) =>
    isolation.command({
      argv: ['/node', `--max-old-space-size=${HEAP_MB}`, '/repository/test/driver.mjs'],
      shown: { '/repository': folder },
      folder: '/repository',
      limits: LIMITS,
    });
  return { kind: 'found', sandbox: { name: 'bubblewrap', command } };
}

/** A process of its own with limits of time and memory, and nothing else: it can do what you can do. */
export function withoutSandbox(): Sandbox {
  return {
    name: 'none',
    command: (folder) => [
      process.execPath,
      `--max-old-space-size=${HEAP_MB}`,
      join(folder, 'test', 'driver.mjs'),
    ],
  };
}

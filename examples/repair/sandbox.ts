/**
 * Where code of the repository runs: bubblewrap gives it a file system of its own that nobody can write to, no network,
 * no other processes, no environment; prlimit bounds its time, memory and processes.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, lstatSync, readlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
const NODE = ['/node', `--max-old-space-size=${HEAP_MB}`];
const NOBODY = 65_534;
const PROBE_LIMIT_MS = 20_000;

/** Looked for in PATH; it is tried out, because not every machine lets it work. */
export function findSandbox(
  environment: Readonly<Record<string, string | undefined>>,
): SandboxFound {
  const [bwrap, prlimit, setpriv] = ['bwrap', 'prlimit', 'setpriv'].map((name) =>
    commandIn(environment['PATH'] ?? '', name),
  );
  if (bwrap === undefined) return missing('bubblewrap (bwrap) is not installed');
  if (prlimit === undefined) return missing('prlimit is not installed');
  const asRoot = process.getuid?.() === 0;
  if (asRoot && setpriv === undefined) return missing('setpriv is not installed');
  const inside = [...(asRoot ? asNobody(setpriv!) : []), prlimit, ...LIMITS, '--', ...NODE];
  const outside = [bwrap, ...(asRoot ? ROOT_SPACES : ['--unshare-all']), ...ROOM];
  const probe = [...outside, '--remount-ro', '/', ...inside, '-e', "console.log('works')"];
  const { stdout, stderr } = run(probe);
  if (stdout.trim() !== 'works') return missing(`bubblewrap does not work here: ${stderr.trim()}`);
  const command: Sandbox['command'] = (folder) =>
    [
      [...outside, '--ro-bind', folder, '/repository', '--remount-ro', '/'],
      ['--chdir', '/repository', ...inside, '/repository/test/driver.mjs'],
    ].flat();
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

function missing(because: string): SandboxFound {
  return { kind: 'missing', because: because.slice(0, 500) };
}

const ROOT_SPACES = ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'];

/** Nobody counts the processes of root; in a user namespace of their own root's are still root's. */
function asNobody(setpriv: string): readonly string[] {
  const ids = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  return [setpriv, ...ids, '--bounding-set=-all', '--no-new-privs', '--'];
}

const ROOM: readonly string[] = [
  ['--die-with-parent', '--new-session', '--clearenv', '--setenv', 'PATH', '/usr/bin:/bin'],
  ['--ro-bind', '/usr', '/usr', ...['/bin', '/lib', '/lib64'].flatMap(bound)],
  ['--ro-bind', process.execPath, '/node', '--proc', '/proc', '--dev', '/dev'],
  ['--remount-ro', '/dev'],
].flat();

/** On most systems these are links into /usr. */
function bound(path: string): readonly string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink()
    ? ['--symlink', readlinkSync(path), path]
    : ['--ro-bind', path, path];
}

function run([command = '', ...args]: readonly string[]) {
  const options = { encoding: 'utf8', timeout: PROBE_LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const { stdout, stderr, error } = spawnSync(command, args, options);
  return { stdout: stdout ?? '', stderr: stderr || String(error ?? '') };
}

function commandIn(path: string, name: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

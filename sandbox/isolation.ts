/**
 * What isolates commands: bubblewrap gives them a file system of their own, no network, no other processes and no
 * environment; prlimit bounds what each may use, and nobody of this machine is their user.
 * Invariant: what is found has been tried out, because not every machine lets it work.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, lstatSync, readlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';

export interface Isolation {
  readonly name: 'bubblewrap';
  /** A command line that runs `room.argv` in a sandbox. File descriptor 3 has the text of its /etc/passwd, where wanted. */
  command(room: Room): readonly string[];
}

export interface Room {
  readonly argv: readonly string[];
  /** Read-only, by their path inside. */
  readonly shown?: { readonly [inside: string]: string };
  /** In memory, empty at first; sizes in bytes, by path inside. Absent: there is nothing to write to. */
  readonly scratch?: { readonly [inside: string]: number };
  /** Working folder; default: /. */
  readonly folder?: string;
  /** Environment; nothing else is in it. */
  readonly env?: { readonly [name: string]: string };
  /** As options of prlimit: `--nproc=40`. */
  readonly limits: readonly string[];
}

export type IsolationFound =
  | { readonly kind: 'found'; readonly isolation: Isolation }
  | { readonly kind: 'missing'; readonly because: string };

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Where the program that runs this one is found inside. */
export const NODE_INSIDE = '/node';
export const PATH_INSIDE = '/usr/local/bin:/usr/bin:/bin';
const PROBE_LIMIT_MS = 20_000;
/** Users without an account: counts of processes are by user, so each sandbox has one of its own. */
const USERS = { first: 1_900_000_000, count: 100_000_000 };
const BECAUSE_CHARS_MAX = 500;

const known = new Map<string, IsolationFound>();

/** Looked for in the folders of `path`, once in a process. */
export function findIsolation(path: string = DEFAULT_PATH): IsolationFound {
  const found = known.get(path) ?? lookFor(path);
  known.set(path, found);
  return found;
}

function lookFor(path: string): IsolationFound {
  const [bwrap, prlimit, setpriv] = ['bwrap', 'prlimit', 'setpriv'].map((name) =>
    commandIn(path, name),
  );
  if (process.platform !== 'linux') return missing('it needs Linux');
  if (bwrap === undefined) return missing('bubblewrap (bwrap) is not installed');
  if (prlimit === undefined) return missing('prlimit is not installed');
  const asRoot = process.getuid?.() === 0;
  if (asRoot && setpriv === undefined) return missing('setpriv is not installed');
  const isolation = isolationWith({ bwrap, prlimit, setpriv: asRoot ? setpriv : undefined });
  const probe = isolation.command({
    argv: [NODE_INSIDE, '-e', "require('fs').writeFileSync('/work/it', 'works')"],
    scratch: { '/work': 1_000_000 },
    limits: ['--nproc=64', '--core=0'],
  });
  const { status, stderr } = run(probe);
  if (status === 0) return { kind: 'found', isolation };
  return missing(`bubblewrap does not work here: ${stderr.trim()}`);
}

/** Errors: InvalidConfig, with what is missing. */
export function requireIsolation(found: IsolationFound): Isolation {
  if (found.kind === 'found') return found.isolation;
  throw new HoldfastError('InvalidConfig', `Nothing can be isolated here: ${found.because}.`, {
    hint: 'Install bubblewrap and util-linux (apt install bubblewrap util-linux), and let this user make namespaces; see docs/guide/sandbox.md in the package holdfast.',
    details: { missing: found.because },
  });
}

interface Programs {
  readonly bwrap: string;
  readonly prlimit: string;
  /** Absent: this user is nobody special. */
  readonly setpriv: string | undefined;
}

function isolationWith({ bwrap, prlimit, setpriv }: Programs): Isolation {
  return {
    name: 'bubblewrap',
    command({ argv, shown = {}, scratch = {}, folder = '/', env = {}, limits }) {
      const spaces = setpriv === undefined ? OWN_SPACES : ROOT_SPACES;
      return [
        [bwrap, ...spaces, ...ROOM],
        Object.entries({ PATH: PATH_INSIDE, ...env }).flatMap(([name, value]) => [
          '--setenv',
          name,
          value,
        ]),
        Object.entries(shown).flatMap(([inside, outside]) => ['--ro-bind', outside, inside]),
        Object.entries(scratch).flatMap(([inside, bytes]) => [
          '--size',
          String(bytes),
          '--perms',
          '0777',
          '--tmpfs',
          inside,
        ]),
        ['--remount-ro', '/', '--chdir', folder],
        setpriv === undefined ? [] : asNobody(setpriv),
        [prlimit, ...limits, '--', ...argv],
      ].flat();
    },
  };
}

const ROOT_SPACES = ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'];
const OWN_SPACES = ['--unshare-user', '--unshare-all', '--disable-userns'];

/** Nobody counts the processes of root; in a user namespace of their own root's are still root's. */
function asNobody(setpriv: string): readonly string[] {
  const id = USERS.first + Math.floor(Math.random() * USERS.count);
  const ids = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups'];
  return [setpriv, ...ids, '--bounding-set=-all', '--no-new-privs', '--'];
}

/** Of /etc only what programs need to find each other, and public certificates. */
const ETC = ['alternatives', 'ld.so.cache', 'ssl/certs', 'localtime'];

const ROOM: readonly string[] = [
  ['--die-with-parent', '--new-session', '--clearenv'],
  ['--ro-bind', '/usr', '/usr', ...['/bin', '/sbin', '/lib', '/lib64'].flatMap(bound)],
  // Those that it makes by itself are for its own user alone.
  ['/etc', '/etc/ssl'].flatMap((folder) => ['--perms', '0755', '--dir', folder]),
  ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ['--ro-bind', process.execPath, NODE_INSIDE, '--proc', '/proc', '--dev', '/dev'],
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

function missing(because: string): IsolationFound {
  return { kind: 'missing', because: because.slice(0, BECAUSE_CHARS_MAX) };
}

function run([command = '', ...args]: readonly string[]) {
  const options = { encoding: 'utf8', timeout: PROBE_LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const { status, stderr, error } = spawnSync(command, args, options);
  return { status, stderr: stderr || String(error ?? '') };
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

/** Folder of the compiled programs that run inside, of sources that run as TypeScript as well. Errors: there is none. */
export function programsFolder(): string {
  const here = __dirname;
  const root = dirname(here);
  const candidates = [root, join(root, '.compiled'), join(root, 'dist')];
  const found = candidates.find((folder) => isFile(join(folder, 'sandbox', 'inside', 'main.js')));
  if (found !== undefined) return join(found, 'sandbox');
  throw new HoldfastError('Internal', 'The program for the inside of sandboxes is not built.', {
    hint: 'Run npm run build.',
  });
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

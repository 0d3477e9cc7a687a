/** `create-holdfast` as a function of its surroundings: asks, writes, installs. */
import { spawn } from 'node:child_process';
import { relative } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import { HELP, readArguments, type Arguments } from './arguments.js';
import { ask, DEFAULT_FOLDER, type Answers } from './questions.js';
import { filesOf } from './scaffold/files.js';
import { placeOf } from './scaffold/names.js';
import { DEFAULTS } from './scaffold/options.js';
import { writeProject } from './scaffold/write.js';

export interface Surroundings {
  readonly here: string;
  /** Of this package, and of the Holdfast that the project gets. */
  readonly version: string;
  /** npm_config_user_agent: `pnpm/10.0.0 npm/? node/v22.0.0`. */
  readonly userAgent?: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Somebody can be asked; absent: nobody. */
  readonly terminal?: {
    readonly input: NodeJS.ReadableStream;
    readonly output: NodeJS.WritableStream;
  };
  readonly signal: AbortSignal;
}

const EXIT = { done: 0, error: 1, usage: 2, interrupted: 130 } as const;

/** Gives the exit code; never throws. */
export async function create(argv: readonly string[], around: Surroundings): Promise<number> {
  const { out, err, signal } = around;
  // Before the line is read: an error in it is told in the form that was asked for.
  let json = argv.includes('--json');
  try {
    const given = readArguments(argv);
    json = given.json;
    if (given.help || given.version) {
      out(`${given.help ? HELP : around.version}\n`);
      return EXIT.done;
    }
    return await createProject(given, around);
  } catch (error) {
    if (signal.aborted || (error instanceof Error && error.name === 'AbortError')) {
      err('\nStopped.\n');
      return EXIT.interrupted;
    }
    tell(error, json ? (text) => out(text) : undefined, err);
    return error instanceof HoldfastError && error.code === 'Usage' ? EXIT.usage : EXIT.error;
  }
}

async function createProject(given: Arguments, around: Surroundings): Promise<number> {
  const { here, version, out, err } = around;
  const answers = await answersOf(given, around);
  const { folder, name } = placeOf(answers.folder, here);
  const holdfast = given.holdfast ?? version;
  const { template, module, model, install } = answers;
  const files = filesOf({ name, template, module, model, holdfast });
  await writeProject(folder, files);
  const say = given.json ? err : out;
  say(`Wrote ${files.length} files to ${folder}.\n`);
  const manager = managerOf(around.userAgent);
  const installed = install && (await installWith(manager, folder, err));
  if (given.json) {
    const paths = files.map(({ path }) => path);
    out(`${JSON.stringify({ folder, template, module, model, files: paths, installed })}\n`);
  } else {
    out(nextSteps(relative(here, folder), installed, manager));
  }
  return install && !installed ? EXIT.error : EXIT.done;
}

/** Errors: Usage: something is not said, and there is nobody to ask. */
function answersOf(given: Arguments, { terminal, signal, here }: Surroundings): Promise<Answers> {
  if (given.folder !== undefined) placeOf(given.folder, here);
  const { folder = DEFAULT_FOLDER, install = false } = given;
  const standard: Answers = { ...DEFAULTS, ...given, folder, install };
  if (given.yes) return Promise.resolve(standard);
  if (terminal === undefined || given.json) {
    throw new HoldfastError('Usage', 'There is no terminal to ask questions at.', {
      hint: 'Give --yes, which takes the default for what no option says.',
    });
  }
  return ask(given, { ...terminal, signal }, here);
}

const MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const;
type Manager = (typeof MANAGERS)[number];

/** The one that has started this command, as each says in a variable. */
function managerOf(userAgent = ''): Manager {
  return MANAGERS.find((one) => userAgent.startsWith(`${one}/`)) ?? 'npm';
}

/** Whether it worked. */
async function installWith(
  manager: Manager,
  folder: string,
  err: (text: string) => void,
): Promise<boolean> {
  const quiet = manager === 'npm' ? ['--no-audit', '--no-fund'] : [];
  const child = spawn(manager, ['install', ...quiet], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    // Finds npm.cmd.
    shell: process.platform === 'win32',
  });
  const code = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(-1)).once('close', (status) => resolve(status ?? -1));
  });
  if (code !== 0)
    err(
      `${manager} install did not work. The project is written: run \`${manager} install\` there.\n`,
    );
  return code === 0;
}

function nextSteps(folder: string, installed: boolean, manager: Manager): string {
  const steps = [
    ...(folder === '' ? [] : [`cd ${/\s/.test(folder) ? `'${folder}'` : folder}`]),
    ...(installed ? [] : [`${manager} install`]),
    `${manager} run dev`,
  ];
  return `\nNext:\n\n${steps.map((step) => `  ${step}\n`).join('')}\nThe agent answers in the terminal; no key is needed. README.md has the rest.\n`;
}

function tell(
  error: unknown,
  json: ((text: string) => void) | undefined,
  err: (text: string) => void,
): void {
  const message = error instanceof Error ? error.message : String(error);
  const known = error instanceof HoldfastError ? error : undefined;
  const code = known?.code ?? 'Internal';
  const hint = known?.hint ?? 'This is a bug of create-holdfast; please report it.';
  if (json !== undefined) json(`${JSON.stringify({ error: { code, message, hint } })}\n`);
  else err(`Error: ${message}\n${hint}\n`);
}

/** `holdfast init`: Holdfast in a project that exists. The files are those of `npm create holdfast`. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { speechOf } from '../environment.js';
import { addedFilesOf, type ProjectFile } from '../../create-holdfast/scaffold/files.js';
import { placeOf } from '../../create-holdfast/scaffold/names.js';
import {
  choiceOf,
  DEFAULTS,
  holdfastSpec,
  type Wanted,
} from '../../create-holdfast/scaffold/options.js';
import {
  devScript,
  neededPackages,
  type Module,
  type Project,
} from '../../create-holdfast/scaffold/project.js';
import { existing, writeProject } from '../../create-holdfast/scaffold/write.js';
import { examples, withJson, type Cli } from '../command.js';
import { EXIT } from '../exit-code.js';
import { createOutput, type Output } from '../terminal/output.js';
import { shellWord } from '../render/index.js';
import { packageVersion } from '../version.js';
import { usage } from '../usage.js';

interface InitOptions {
  readonly template?: Wanted['template'];
  readonly model?: Wanted['model'];
  readonly holdfast?: string;
  readonly json?: boolean;
}

export function addInit(program: Command, cli: Cli): void {
  const command = program
    .command('init')
    .description(
      'Add Holdfast to the project in this folder: an agent, a configuration, a test and a case. Files that exist are never written over.',
    )
    .option(
      '--template <name>',
      'minimal, refund, or existing: one agent step for a Temporal workflow (default existing in a project with Temporal, else minimal)',
      (said) => choiceOf('template', said),
    )
    .option(
      '--model <vendor>',
      'whose key the project reads: anthropic, openai or scripted (default anthropic)',
      (said) => choiceOf('model', said),
    )
    .option('--holdfast <spec>', 'version to be installed, or file:PLACE', holdfastSpec);
  withJson(command, '{folder, template, module, model, files, next}')
    .addHelpText('after', examples('holdfast init', 'npx holdfast init --template refund'))
    .action(async (options: InitOptions) => {
      const { environment, streams } = cli;
      const { json = false } = options;
      const output = createOutput(streams, { json, ...speechOf(environment) });
      await init(environment.folder, options, output);
      cli.exitCode = EXIT.completed;
    });
}

async function init(folder: string, options: InitOptions, output: Output): Promise<void> {
  const found = packageIn(folder);
  const project: Project = {
    name: nameOf(folder, found),
    template: options.template ?? (usesTemporal(found) ? 'existing' : DEFAULTS.template),
    module: found.module,
    model: options.model ?? DEFAULTS.model,
    holdfast: options.holdfast ?? packageVersion(),
  };
  const files = addedFilesOf(project);
  await refuseTaken(folder, files);
  await writeProject(folder, files);
  const { template, module, model } = project;
  const paths = files.map(({ path }) => path);
  const next = nextSteps(project, found, installerOf(folder));
  output.data({ folder, template, module, model, files: paths, next });
  for (const path of paths) output.line(`Wrote ${path}`);
  output.line('\nNext:\n');
  for (const step of next) output.line(`  ${step}`);
  if (found.hasZod3) output.remark(ZOD_REPLACED);
}

const ZOD_REPLACED =
  '\nThe first command puts zod 4 in the place of the zod 3 of this project. Code that needs zod 3 imports it from zod/v3.';

interface Found {
  readonly module: Module;
  readonly name?: string;
  /** Names of its packages. */
  readonly has: readonly string[];
  readonly hasZod3: boolean;
  /** Whether `npm run dev` is something of its own. */
  readonly hasDev: boolean;
}

interface PackageFile {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
  readonly scripts?: object;
}

const PACKAGE_BYTES_MAX = 1024 * 1024;

function usesTemporal({ has }: Found): boolean {
  return has.some((one) => one.startsWith('@temporalio/'));
}

/** Errors: Usage: no project is here; InvalidConfig: its package.json cannot be read. */
function packageIn(folder: string): Found {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) {
    throw usage(
      `There is no package.json in ${folder}.`,
      'Begin a new project with `npm create holdfast@latest my-agent`, or run `npm init` first.',
    );
  }
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length > PACKAGE_BYTES_MAX) throw new Error('the file is larger than 1 MiB');
    const { type, name, dependencies, devDependencies, scripts } = JSON.parse(text) as PackageFile;
    const { zod } = { ...devDependencies, ...dependencies };
    return {
      module: type === 'module' ? 'esm' : 'commonjs',
      ...(typeof name === 'string' && { name }),
      has: Object.keys(dependencies ?? {}),
      hasZod3: /^[\^~]?3\b[^|]*$/.test(String(zod)),
      hasDev: Object.hasOwn(scripts ?? {}, 'dev'),
    };
  } catch (cause) {
    throw new HoldfastError('InvalidConfig', `${file} cannot be read as JSON.`, {
      hint: cause instanceof Error ? `Correct the file: ${cause.message}` : 'Correct the file.',
      cause,
    });
  }
}

/** Only words in texts: a project may have any name. */
function nameOf(folder: string, { name }: Found): string {
  try {
    return placeOf(name ?? basename(folder), folder).name;
  } catch {
    return 'this-project';
  }
}

async function refuseTaken(folder: string, files: readonly ProjectFile[]): Promise<void> {
  const taken = await existing(folder, files);
  if (taken.length === 0) return;
  throw usage(
    `${folder} has ${taken.join(', ')} already. Nothing was written.`,
    'Holdfast may be here already: look at holdfast.config.ts. Otherwise move these files away.',
  );
}

/** Commands, because package.json is the user's own. */
function nextSteps(project: Project, { has, hasDev }: Found, installer: string): readonly string[] {
  const packages = neededPackages(project, has).map(shellWord).join(' ');
  const script = hasDev ? 'agents' : 'dev';
  return [
    `${installer} ${packages}`,
    `npm pkg set scripts.${script}=${shellWord(devScript(project.template).dev)}`,
    'npx tsx --test test/agent.test.ts',
    'npx holdfast eval cases',
    `npm run ${script}`,
  ];
}

const NPM = 'npm install --save-exact';
const INSTALLERS = {
  'package-lock.json': NPM,
  'pnpm-lock.yaml': 'pnpm add --save-exact',
  'yarn.lock': 'yarn add --exact',
  'bun.lock': 'bun add --exact',
};

/** By the nearest lock file, which may be that of the repository around the package. */
function installerOf(folder: string): string {
  const found = Object.entries(INSTALLERS).find(([lock]) => existsSync(join(folder, lock)));
  const above = dirname(folder);
  const isWhole = above === folder || existsSync(join(folder, '.git'));
  return found?.[1] ?? (isWhole ? NPM : installerOf(above));
}

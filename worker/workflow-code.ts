/**
 * The workflows' code as the SDK wants it: prebuilt beside the compiled sources, or bundled once per process.
 * Invariant: a prebuilt bundle is used only when it was made by this SDK from exactly these sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import {
  bundleWorkflowCode,
  DefaultLogger,
  type BundleOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { z } from 'zod';
import { codeVersion } from '../activities/run/code-version.js';
import { RULES_VERSION } from '../core/step/changes.js';
import { codeId } from '../core/step/code-id.js';
import { REPLAY_MARK } from '../core/state/replay-mark.js';

const ROOT = join(__dirname, '..');
/** Sources run under tsx and jest, compiled files from dist; both lie in the same layout. */
const EXTENSION = extname(__filename);
const WORKFLOWS_PATH = join(ROOT, 'workflows', `served${EXTENSION}`);
export const PAYLOAD_CONVERTER_PATH = join(ROOT, 'workflows', `payload-converter${EXTENSION}`);
const SHARED_PATH = join(ROOT, 'workflows', `shared${EXTENSION}`);
const STARTED_TASKS_PATH = join(ROOT, 'workflows', `started-tasks${EXTENSION}`);
const ANSWERS_PATH = join(ROOT, 'workflows', `query-answers${EXTENSION}`);
const RECORDER_PATH = join(ROOT, 'workflows', `replay-recorder${EXTENSION}`);
const STAMP_PATH = join(ROOT, 'workflows', 'bundle.json');
const SOURCE_FOLDERS = ['core', 'workflows'];
/** What is bundled with them, and how, is said here. */
const SELF = join('worker', `workflow-code${EXTENSION}`);

const BUNDLE_PATH = join(ROOT, 'workflows', 'bundle.js');

const CODE_ID_HASH_CHARS = 12;

const stampSchema = z.object({ sdk: z.string(), sources: z.string() });
type Stamp = z.infer<typeof stampSchema>;

/**
 * What the code says first. The SDK takes and maps a stack for each promise of a workflow, a fifth of the thread's work;
 * nothing that is decided looks at one. Where it stands, `Error` is not frozen yet.
 */
const WITHOUT_STACKS = 'globalThis.Error.stackTraceLimit = 0; ';

/**
 * What the code says next. In a sandbox each look at a global is a call out of the engine, ten times as slow as a look at a
 * variable, and a turn of a run takes some thousand. The SDK replaces none of these for a workflow, as it does with `Date`.
 */
const KNOWN_GLOBALS = `const { ${[
  'Array',
  'BigInt',
  'Boolean',
  'Error',
  'JSON',
  'Map',
  'Math',
  'Number',
  'Object',
  'Promise',
  'Reflect',
  'RegExp',
  'Set',
  'String',
  'Symbol',
  'TypeError',
  'Uint8Array',
].join(', ')} } = globalThis; `;

let bundled: Promise<WorkflowBundleOption> | undefined;

/** The workflow bundle; the second worker of a process does not pay for it again. */
export function workflowBundle(
  say: (line: string) => void = () => undefined,
): Promise<WorkflowBundleOption> {
  bundled ??= bundleNow(say);
  return bundled;
}

/** The same code, whose errors and promises keep their stacks: for those who look for a mistake in it. */
export async function withStacks(
  bundle: Promise<WorkflowBundleOption>,
): Promise<{ readonly code: string }> {
  const code = codeOf(await bundle);
  return { code: code.startsWith(WITHOUT_STACKS) ? code.slice(WITHOUT_STACKS.length) : code };
}

function codeOf(bundle: WorkflowBundleOption): string {
  return 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
}

/** The same code for the strict replay: its recorder tells every command, and no task has to have started. */
export async function replayBundle(): Promise<{ readonly code: string }> {
  return { code: markedForReplay(codeOf(await workflowBundle())) };
}

/** The mark stays on the first line of the code, so that its source map holds. */
export function markedForReplay(code: string): string {
  return `globalThis.${REPLAY_MARK} = true; ${code}`;
}

function bundleNow(say: (line: string) => void): Promise<WorkflowBundleOption> {
  const prebuilt = prebuiltBundle();
  if (prebuilt === 'fresh') return Promise.resolve({ codePath: BUNDLE_PATH });
  if (prebuilt === 'stale') {
    say('The prebuilt workflow bundle is of other sources: bundling anew. Run npm run build.');
  }
  return bundleWith();
}

/** Whether there is a prebuilt bundle, and whether it is of these sources. */
export function prebuiltBundle(): 'fresh' | 'stale' | 'absent' {
  if (!existsSync(BUNDLE_PATH)) return 'absent';
  return isFresh() ? 'fresh' : 'stale';
}

/** Writes the prebuilt bundle beside the compiled workflows: a build step. */
export async function writeWorkflowBundle(): Promise<void> {
  const { code } = await bundleWith();
  writeFileSync(BUNDLE_PATH, code);
  writeFileSync(STAMP_PATH, JSON.stringify(currentStamp()));
}

/** Webpack's, of its own lines: nobody reads them in code that is bundled. */
const MARKS_OF_LINES = /^\/\*{3,6}\/[ \t]*/gm;

const intercepted = new Map<string, ReturnType<typeof bundleWith>>();

/** The workflow bundle with interceptors of somebody else's; the second worker of a process does not pay for it again. */
export function interceptedBundle(interceptors: readonly string[]): ReturnType<typeof bundleWith> {
  const key = interceptors.join('\0');
  const bundle = intercepted.get(key) ?? bundleWith({ interceptors });
  intercepted.set(key, bundle);
  return bundle;
}

/** Names this workflow code in the histories that it makes: its release, its sources exactly, and its rules. */
export function workflowCodeId(): string {
  const sources = currentStamp().sources.slice(0, CODE_ID_HASH_CHARS);
  return codeId(codeVersion(), sources, RULES_VERSION);
}

export interface BundleWith {
  /** Paths of modules with interceptors of somebody else's. */
  readonly interceptors?: readonly string[];
  /** Of webpack: for code that stands in for ours. */
  readonly plugins?: WebpackConfig['plugins'];
}

/** The code, with something of somebody else's in it or around it. */
export async function bundleWith({ interceptors = [], plugins = [] }: BundleWith = {}): Promise<{
  readonly code: string;
}> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
    payloadConverterPath: PAYLOAD_CONVERTER_PATH,
    // Code that stands in for ours may remember something of its workflow.
    preloadModules: plugins.length === 0 ? [SHARED_PATH] : [],
    workflowInterceptorModules: [STARTED_TASKS_PATH, ANSWERS_PATH, RECORDER_PATH, ...interceptors],
    webpackConfigHook: (config) => ({
      ...othersCompact(compiledForThisNode(config)),
      devtool: SOURCE_MAP,
      // The source map says the path of each module; one that names modules by their paths is a twentieth larger.
      optimization: { ...config.optimization, moduleIds: 'deterministic' },
      output: { ...config.output, pathinfo: false, devtoolModuleFilenameTemplate: nameInStack },
      plugins: [...(config.plugins ?? []), ...plugins],
    }),
    logger: new DefaultLogger('ERROR'),
  });
  // Code of others may replace globals, and have anything at the beginning of a line.
  const isOurs = interceptors.length + plugins.length === 0;
  const own = isOurs ? `${KNOWN_GLOBALS}${code.replaceAll(MARKS_OF_LINES, '')}` : code;
  // On the first line, so that the source map holds.
  return { code: `${WITHOUT_STACKS}${own}` };
}

/** For the lines of stack traces. With columns and the sources' texts it would be twice as large as the code. */
const SOURCE_MAP = 'inline-nosources-cheap-module-source-map';

/** From this package on: the machine that made a prebuilt bundle is not the one where its stacks are read. */
function nameInStack({ absoluteResourcePath }: { readonly absoluteResourcePath: string }): string {
  return relative(join(ROOT, '..'), absoluteResourcePath).replaceAll('\\', '/');
}

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/**
 * The SDK compiles TypeScript for engines of 2017, where each copy of an object calls a function: the
 * decisions take twice as long. The build's own code is compiled for the Node that runs it; so are sources.
 */
function compiledForThisNode(config: WebpackConfig): WebpackConfig {
  for (const rule of config.module?.rules ?? []) {
    const use = typeof rule === 'object' ? rule?.use : undefined;
    const options = typeof use === 'object' && 'options' in use ? use.options : undefined;
    if (typeof options === 'object' && 'jsc' in options) options.jsc.target = 'es2022';
  }
  return config;
}

/** Packages of others come without their comments, blanks and names of variables: a third of the code. Functions, classes and lines keep theirs in stacks. */
function othersCompact(config: WebpackConfig): WebpackConfig {
  const rules = config.module?.rules ?? [];
  const loader = rules.flatMap(loaderOf).find((name) => name.includes('swc-loader'));
  if (loader === undefined) return config;
  const mangle = { keepClassNames: true, keepFnNames: true };
  const minify = { compress: false, mangle, format: { comments: false } };
  const options = {
    sourceMaps: true,
    isModule: 'unknown',
    minify: true,
    jsc: { target: 'es2022', minify },
  };
  const compact = { test: /\.js$/, include: /node_modules/, use: { loader, options } };
  return { ...config, module: { ...config.module, rules: [...rules, compact] } };
}

type WebpackRule = NonNullable<NonNullable<WebpackConfig['module']>['rules']>[number];

function loaderOf(rule: WebpackRule): readonly string[] {
  const use = typeof rule === 'object' ? rule?.use : undefined;
  return typeof use === 'object' && 'loader' in use ? [use.loader ?? ''] : [];
}

function isFresh(): boolean {
  if (!existsSync(STAMP_PATH)) return false;
  try {
    const found = stampSchema.parse(JSON.parse(readFileSync(STAMP_PATH, 'utf8')));
    const current = currentStamp();
    return found.sdk === current.sdk && found.sources === current.sources;
  } catch {
    // An unreadable stamp says nothing about its bundle: make a new one.
    return false;
  }
}

let stamp: Stamp | undefined;

/** Of the sources as this process found them: reading all of them is a good part of a cold start. */
function currentStamp(): Stamp {
  if (stamp !== undefined) return stamp;
  const hash = createHash('sha256');
  for (const file of sourceFiles()) hash.update(file).update(readFileSync(join(ROOT, file)));
  stamp = { sdk: sdkVersion(), sources: hash.digest('hex') };
  return stamp;
}

function sourceFiles(): readonly string[] {
  const bundledFiles = SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith(EXTENSION) && !file.endsWith('.d.ts'))
      .filter((file) => join(ROOT, file) !== BUNDLE_PATH),
  );
  return [...bundledFiles, SELF].sort();
}

function sdkVersion(): string {
  const file = require.resolve('@temporalio/worker/package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}

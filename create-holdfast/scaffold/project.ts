/**
 * What a new project is: decided here from its options, written elsewhere.
 * Invariant: the same options give the same files, byte for byte.
 */

export const TEMPLATES = ['minimal', 'refund', 'existing'] as const;
export type Template = (typeof TEMPLATES)[number];
export const MODULES = ['esm', 'commonjs'] as const;
export type Module = (typeof MODULES)[number];
export const MODELS = ['anthropic', 'openai', 'scripted'] as const;
export type Model = (typeof MODELS)[number];

export interface Project {
  /** Of its package.json. */
  readonly name: string;
  readonly template: Template;
  readonly module: Module;
  /** Whose key the project reads; without the key a script answers, though never in production. With `scripted` one always does. */
  readonly model: Model;
  /** What package.json names: a version, or `file:` with a place. */
  readonly holdfast: string;
}

/** Exact, as Holdfast itself is tested with them. */
export const VERSIONS = {
  '@temporalio/activity': '1.24.0',
  '@temporalio/client': '1.24.0',
  '@temporalio/worker': '1.24.0',
  '@temporalio/workflow': '1.24.0',
  '@types/node': '20.19.43',
  typescript: '7.0.2',
  zod: '4.6.7',
} as const;

/** Which packages may run code when they are installed: better-sqlite3 has to, and npm warns of each that is not named. */
const INSTALL_SCRIPTS = { 'better-sqlite3': true, '@swc/core': true, protobufjs: false } as const;

const TEMPORAL = [
  '@temporalio/activity',
  '@temporalio/client',
  '@temporalio/worker',
  '@temporalio/workflow',
] as const;

/** What `npm run dev` asks first. */
const FIRST_GOALS: Readonly<Record<Template, string>> = {
  minimal: 'Where is order O-104?',
  refund: 'Order O-104 arrived broken. Please refund it.',
  existing: 'My parcel O-104 arrived broken, and nobody answers.',
};

/** Words in the templates, and what stands in their place. */
export function wordsOf({ name, model }: Project): Readonly<Record<string, string>> {
  return { __PROJECT__: name, ' __MODEL__': MODEL_CODE[model] };
}

/** Expressions, with the space before them. */
const MODEL_CODE: Readonly<Record<Model, string>> = {
  anthropic: vendorModel('ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-5-5'),
  openai: vendorModel('OPENAI_API_KEY', 'openai/gpt-5-mini'),
  scripted: " 'scripted/demo'",
};

/** In production the vendor's also without its key: a worker whose secret is missing fails, and never answers by the script. */
function vendorModel(key: string, model: string): string {
  return `
    process.env['${key}'] || process.env['NODE_ENV'] === 'production'
      ? '${model}'
      : 'scripted/demo'`;
}

export function packageJson({ name, template, module, holdfast }: Project): string {
  const isExisting = template === 'existing';
  const temporal = isExisting ? TEMPORAL.map((one) => [one, VERSIONS[one]]) : [];
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: module === 'esm' ? 'module' : 'commonjs',
    engines: { node: '>=20.19' },
    scripts: scriptsOf(template),
    dependencies: Object.fromEntries([...temporal, ['holdfast', holdfast], ['zod', VERSIONS.zod]]),
    devDependencies: { '@types/node': VERSIONS['@types/node'], typescript: VERSIONS.typescript },
    allowScripts: INSTALL_SCRIPTS,
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function scriptsOf(template: Template): Readonly<Record<string, string>> {
  return {
    ...devScript(template),
    ...(template === 'existing' && {
      business: 'tsc && node build/src/worker.js',
      start: 'tsc && node build/src/start.js',
    }),
    worker: 'holdfast worker',
    build: 'tsc',
    // Without quotes: the shell finds the files, and where it does not (Windows), Node does from 21 on.
    test: 'tsc && node --test build/test/*.test.js && holdfast eval cases',
  };
}

/** Double quotes are understood by the shells of all systems. */
export function devScript(template: Template): { readonly dev: string } {
  return { dev: `holdfast dev --ask "${FIRST_GOALS[template]}"` };
}

/** Packages that a project needs beside those that it has. Those of Temporal's SDK work in one version alone. */
export function neededPackages(
  { template, holdfast }: Project,
  has: readonly string[],
): readonly string[] {
  const own = holdfast.startsWith('file:') ? holdfast : `holdfast@${holdfast}`;
  const isNeeded = (name: string): boolean =>
    has.includes(name) || (template === 'existing' && name === '@temporalio/workflow');
  const temporal = TEMPORAL.filter(isNeeded).map((name) => `${name}@${VERSIONS[name]}`);
  return [own, `zod@${VERSIONS.zod}`, ...temporal];
}

/**
 * The sources as JavaScript, for tests that start processes of them: each serves a second of work sooner than one
 * that starts from TypeScript. Made before all tests, and only of what has changed.
 */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { bundleQueryBuilder } from '../build-query-builder.cjs';
import { packedTemplates } from '../create-holdfast/pack-templates.cjs';
import type * as BusinessBundle from '../examples/refund/business/bundle.js';
import type * as WorkflowCode from '../worker/workflow-code.js';

const ROOT = join(__dirname, '..');
/** As far below the package as dist: from there, too, compiled sources find what lies in the package. */
const COMPILED = join(ROOT, '.compiled');
const BUSINESS = join(ROOT, 'examples', 'refund', 'business', 'bundle.ts');
const WORKFLOW_CODE = join(ROOT, 'worker', 'workflow-code.ts');
/** As the package has it, without what the store does not use: of anything else tests would say nothing of it. */
const QUERY_BUILDER = join(ROOT, 'store', 'query-builder.ts');
const QUERY_BUILDER_IS_OF = [QUERY_BUILDER, 'build-query-builder.cjs', 'package-lock.json'];
const NO_SOURCES = new Set(['node_modules', 'dist', 'coverage', 'templates']);

/** For the global setup. */
export async function compileSources(): Promise<void> {
  const sources = sourcesIn(ROOT).filter((file) => file !== QUERY_BUILDER);
  await build({
    entryPoints: sources.filter((file) => madeAt(compiledPath(file)) <= madeAt(file)),
    outdir: COMPILED,
    outbase: ROOT,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  });
  const builder = compiledPath(QUERY_BUILDER);
  if (QUERY_BUILDER_IS_OF.some((file) => madeAt(builder) <= madeAt(resolve(ROOT, file))))
    bundleQueryBuilder(dirname(builder));
  const templates = join(COMPILED, 'create-holdfast', 'templates.json');
  mkdirSync(dirname(templates), { recursive: true });
  writeFileSync(templates, packedTemplates());
}

/** For the global setup, of compiled sources: what replays run in the processes of the tests. */
export async function bundleCompiledWorkflows(): Promise<void> {
  const made = madeAt(join(COMPILED, 'workflows', 'bundle.json'));
  // To look at the sources themselves takes two seconds of loading.
  const sources = ['core', 'workflows'].flatMap((folder) => sourcesIn(join(ROOT, folder)));
  const all = [
    ...sources.map(compiledPath),
    compiledPath(WORKFLOW_CODE),
    join(ROOT, 'package-lock.json'),
  ];
  if (all.every((file) => madeAt(file) < made)) return;
  const { writeWorkflowBundle } = require(compiledPath(WORKFLOW_CODE)) as typeof WorkflowCode;
  await writeWorkflowBundle();
}

/** For the global setup, of compiled sources: what else workers run. */
export async function bundleWorkflows(): Promise<void> {
  const { prebuiltBundle, writeWorkflowBundle } = require(WORKFLOW_CODE) as typeof WorkflowCode;
  if (prebuiltBundle() !== 'fresh') await writeWorkflowBundle();
  const made = join(dirname(compiledPath(BUSINESS)), 'refund-process.bundle.js');
  if (sourcesIn(dirname(BUSINESS)).some((file) => madeAt(made) <= madeAt(file))) {
    await compiled<typeof BusinessBundle>(BUSINESS).writeBusinessBundle();
  }
}

/** Where a source file is compiled to. */
export function compiledPath(file: string): string {
  return join(COMPILED, relative(ROOT, resolve(file)).replace(/\.ts$/, '.js'));
}

/** What a source file exports, compiled: the processes that it starts are compiled, too. */
export function compiled<Module>(file: string): Module {
  return require(compiledPath(resolve(ROOT, file))) as Module;
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.') || NO_SOURCES.has(entry.name)) return [];
    if (entry.isDirectory()) return sourcesIn(path);
    return /(?<!\.d|\.test)\.ts$/.test(entry.name) ? [path] : [];
  });
}

/** 0 of what is not there. */
function madeAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

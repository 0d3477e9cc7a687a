/** The code that a worker runs: today's build, or the package of histories/BASE; with the agent compiled against it. */
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { requireBase, run } from '../seal/base-commit.js';
import { installed, packed } from '../seal/base-package.js';
import { ROOT } from '../seal/kept-histories.js';

export interface WorkerPackage {
  readonly name: string;
  /** The worker process's program. */
  readonly entry: string;
  /** Exports the configuration. */
  readonly configModule: string;
}

export function todaysPackage(folder: string): WorkerPackage {
  run('node', ['build.cjs', '--if-stale'], ROOT);
  const project = mkdtempSync(join(folder, 'today-'));
  const modules = join(project, 'node_modules');
  mkdirSync(modules);
  symlinkSync(ROOT, join(modules, 'holdfast'));
  symlinkSync(join(ROOT, 'node_modules', 'zod'), join(modules, 'zod'));
  return { name: 'today', entry: entryIn(ROOT), configModule: agentIn(project) };
}

export function basePackage(folder: string, say: (line: string) => void): WorkerPackage {
  const commit = requireBase();
  const place = mkdtempSync(join(folder, 'base-'));
  say(`packing ${commit.slice(0, 12)} of histories/BASE`);
  const project = installed(packed(place, commit), place);
  const home = join(project, 'node_modules', 'holdfast');
  return { name: 'BASE', entry: entryIn(home), configModule: agentIn(project) };
}

function entryIn(home: string): string {
  return join(home, 'dist', 'testing', 'worker-entry.js');
}

function agentIn(project: string): string {
  const source = readFileSync(join(__dirname, 'agent.ts'), 'utf8');
  const { code } = transformSync(source.replace("'../../index.js'", "'holdfast'"), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  const file = join(project, 'agent.js');
  writeFileSync(file, code);
  return file;
}

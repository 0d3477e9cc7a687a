/** The package that `npm pack` makes of a commit, and an empty project that has it. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, sourcesOf } from './base-commit.js';
import { ROOT } from './kept-histories.js';

/** Gives the packed file; with the dependencies that are installed here. */
export function packed(folder: string, commit: string): string {
  const sources = sourcesOf(commit, folder);
  const told = run('npm', ['pack', '--silent', '--pack-destination', folder], sources);
  return join(folder, told.trim().split('\n').at(-1)!);
}

const SQLITE = join('node_modules', 'better-sqlite3');

/** Gives the project's folder. */
export function installed(tarball: string, folder: string): string {
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"name":"of-base","private":true}');
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  run('npm', ['install', ...options, tarball], project);
  compiled(project);
  return project;
}

/** To compile the same SQLite once more takes a minute and more. */
function compiled(project: string): void {
  const versionIn = (folder: string): string =>
    readFileSync(join(folder, SQLITE, 'package.json'), 'utf8');
  if (versionIn(project) !== versionIn(ROOT)) return void run('npm', ['rebuild'], project);
  const build = join(SQLITE, 'build');
  cpSync(join(ROOT, build), join(project, build), { recursive: true });
}

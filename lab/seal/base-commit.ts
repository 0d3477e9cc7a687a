/** The commit that the project is held to, and its sources. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { HISTORIES, ROOT } from './kept-histories.js';

export function baseCommit(): string {
  return readFileSync(join(HISTORIES, 'BASE'), 'utf8').trim();
}

/** Throws when this clone lacks the commit: without it nobody knows what may not change. */
export function requireBase(): string {
  const commit = baseCommit();
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`histories/BASE names no commit: ${commit}`);
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
  } catch (cause) {
    const message = `This clone lacks ${commit}, which histories/BASE names: fetch the whole history.`;
    throw new Error(`${message} (${String(cause)})`, { cause });
  }
  return commit;
}

/** Its sources in a folder below `folder`, with the dependencies that are installed here. */
export function sourcesOf(commit: string, folder: string): string {
  const sources = join(folder, 'sources');
  mkdirSync(sources);
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', sources], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'));
  return sources;
}

export function git(...args: readonly string[]): string {
  return run('git', args, ROOT);
}

export function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

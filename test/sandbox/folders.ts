/** Work folders of tests, and commands in them. */
import { createHash } from 'node:crypto';
import type { FolderEntry } from '../../pure/work-folder/entry.js';
import type { Isolation } from '../../sandbox/isolation.js';
import { limitsWith, type SandboxLimits } from '../../sandbox/limits.js';
import {
  runInSandbox,
  type CommandRan,
  type SandboxCommand,
  type WorkFolder,
} from '../../sandbox/run-command.js';

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function folderWith(files: { readonly [path: string]: string } = {}): WorkFolder {
  const entries = new Map<string, FolderEntry>();
  const contents = new Map<string, Buffer>();
  for (const [path, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const hash = sha256(content);
    entries.set(path, { kind: 'file', hash, bytes: content.length, at: 1_700_000_000_000 });
    contents.set(hash, content);
  }
  return { entries, contents };
}

export const QUICK: SandboxLimits = limitsWith({
  timeMs: 20_000,
  memoryBytes: 256 * 1024 * 1024,
  processes: 64,
  folder: { entries: 200, bytes: 4_000_000, fileBytes: 1_000_000 },
});

/** Runs a shell command line. */
export function sh(
  isolation: Isolation,
  line: string,
  {
    folder = folderWith(),
    ...more
  }: Partial<SandboxCommand> & { readonly folder?: WorkFolder } = {},
): Promise<CommandRan> {
  return runInSandbox(isolation, folder, {
    argv: ['/bin/sh', '-c', line],
    signal: new AbortController().signal,
    ...more,
    limits: { ...QUICK, ...more.limits },
  });
}

/** The folder as texts. */
export function textsOf(ran: CommandRan, before: WorkFolder = folderWith()): object {
  const texts = [...ran.entries].map(([path, entry]) => {
    if (entry.kind !== 'file') return [path, entry.kind === 'link' ? `-> ${entry.target}` : '/'];
    return [path, (ran.fresh.get(entry.hash) ?? before.contents.get(entry.hash))?.toString('utf8')];
  });
  return Object.fromEntries(texts);
}

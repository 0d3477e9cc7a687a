/** Files of a work folder as texts, under the names that a model gives them. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { PATH_CHARS_MAX, pathDefect } from '../../pure/work-folder/entry.js';
import { ToolError } from '../tool-error.js';
import type { FolderView } from './sandbox.js';

export const pathInput = z
  .string()
  .min(1)
  .max(PATH_CHARS_MAX)
  .describe('Path of a file in the work folder: src/main.ts');

export const hashInput = z.string().regex(/^[0-9a-f]{64}$/, 'is the sha256 that read_file gives');

/** Largest text that is read, searched, written or edited, in bytes. */
export const TEXT_BYTES_MAX = 1024 * 1024;

export interface FolderText {
  readonly text: string;
  readonly sha256: string;
  readonly bytes: number;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A path that leads nowhere else. Errors: ToolError. */
export function checkedPath(path: string): string {
  const defect = pathDefect(path);
  if (defect === undefined) return path;
  throw new ToolError(`The path ${JSON.stringify(path)} ${defect}.`);
}

/** The text of a file; undefined: there is none. Errors: ToolError for what is no file, no text, or too large. */
export async function textAt(folder: FolderView, path: string): Promise<FolderText | undefined> {
  const entry = folder.entries.get(checkedPath(path));
  if (entry?.kind === 'link') {
    const target = JSON.stringify(entry.target.slice(0, 200));
    throw new ToolError(`${path} is a link to ${target}: name the file that you mean.`);
  }
  if (entry === undefined && isFolder(folder, path)) throw new ToolError(`${path} is a folder.`);
  if (entry?.kind === 'folder') throw new ToolError(`${path} is a folder.`);
  if (entry === undefined) return undefined;
  if (entry.bytes > TEXT_BYTES_MAX)
    throw new ToolError(
      `${path} has ${entry.bytes} bytes, of at most ${TEXT_BYTES_MAX}: use the shell for it.`,
    );
  const content = (await folder.contents([entry.hash])).get(entry.hash);
  if (content === undefined) throw new Error(`The store has lost the content of ${path}.`);
  const text = textIn(content);
  if (text === undefined) throw new ToolError(`${path} is no text: it has ${entry.bytes} bytes.`);
  return { text, sha256: entry.hash, bytes: entry.bytes };
}

/** Undefined: the bytes are no text. */
export function textIn(content: Buffer): string | undefined {
  if (content.includes(0)) return undefined;
  const text = content.toString('utf8');
  return Buffer.from(text).equals(content) ? text : undefined;
}

function isFolder({ entries }: FolderView, path: string): boolean {
  for (const other of entries.keys()) if (other.startsWith(`${path}/`)) return true;
  return false;
}

/** Bytes of a text that is to be written. Errors: ToolError. */
export function bytesOf(path: string, text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length <= TEXT_BYTES_MAX) return bytes;
  throw new ToolError(`${path} would have ${bytes.length} bytes, of at most ${TEXT_BYTES_MAX}.`);
}

/** For `run` of tools that have `sandboxRun` alone. */
export function onlyInSandbox(): never {
  throw new ToolError('This tool runs in its sandbox alone.');
}

/** The tool with which a model finds files, and lines in them, in its run's work folder. */
import { z } from 'zod';
import { withinTime } from '../../sandbox/time-limit.js';
import { defineTool } from '../define-tool.js';
import { ToolError } from '../tool-error.js';
import { checkedPath, onlyInSandbox, TEXT_BYTES_MAX, textIn } from './folder-text.js';
import type { FolderView } from './sandbox.js';

const MATCHES_MAX = 200;
const PATHS_MAX = 1_000;
const LINE_CHARS_MAX = 400;
/** A pattern may be hostile: all of its work is ended after this. */
const TIME_MS = 2_000;
const BYTES_MAX = 16 * 1024 * 1024;

/** Lets an agent find lines in the files of its work folder, and list them. */
export const searchTool = defineTool({
  name: 'search',
  version: '1',
  effect: 'read',
  description:
    'Finds lines in the text files of the work folder by a regular expression (JavaScript); without a pattern it lists the files.',
  input: z.object({
    pattern: z.string().min(1).max(500).optional(),
    ignoreCase: z.boolean().optional(),
    folder: z.string().min(1).max(400).optional().describe('Only below this folder: src'),
    name: z.string().min(1).max(200).optional().describe('Only files of such a name: *.ts'),
    matches: z.number().int().min(1).max(MATCHES_MAX).optional().describe(`Default ${MATCHES_MAX}`),
  }),
  sandbox: 'required',
  concurrencySafe: true,
  run: onlyInSandbox,
  sandboxRun: async ({ pattern, ignoreCase = false, folder, name, matches = MATCHES_MAX }, ctx) => {
    const view = await ctx.sandbox.look();
    const paths = pathsIn(view, { folder, name });
    if (pattern === undefined) {
      const files = paths.slice(0, PATHS_MAX);
      return { files, ...(paths.length > files.length && { more: paths.length - files.length }) };
    }
    const wanted = expression(pattern, ignoreCase);
    const { texts, skipped } = await textsIn(view, paths);
    const found = withinTime(TIME_MS, () => linesWith(wanted, texts, matches));
    if (!found.inTime)
      throw new ToolError(`The search took longer than ${TIME_MS} ms: use a simpler pattern.`);
    return { ...found.value, searched: texts.length, ...(skipped > 0 && { skipped }) };
  },
});

function expression(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? 'iu' : 'u');
  } catch (error) {
    throw new ToolError(`The pattern cannot be used: ${(error as Error).message}.`);
  }
}

interface Where {
  readonly folder: string | undefined;
  readonly name: string | undefined;
}

function pathsIn({ entries }: FolderView, { folder, name }: Where): readonly string[] {
  const prefix = folder === undefined ? '' : `${checkedPath(folder.replace(/\/$/, ''))}/`;
  const isNamed = name === undefined ? () => true : namedLike(name);
  return [...entries]
    .filter(([path, { kind }]) => kind === 'file' && path.startsWith(prefix))
    .map(([path]) => path)
    .filter((path) => isNamed(path.slice(path.lastIndexOf('/') + 1)))
    .sort();
}

/** `*` is any text. Parts are found one after the other: no name takes long. */
function namedLike(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  return (name) => {
    if (last === undefined) return name === first;
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
}

interface Searched {
  readonly path: string;
  readonly lines: readonly string[];
}

/** Files that are no text, or too large, are counted. */
async function textsIn({ entries, contents }: FolderView, paths: readonly string[]) {
  const texts: Searched[] = [];
  let skipped = 0;
  let bytes = 0;
  const wanted = paths.flatMap((path) => {
    const entry = entries.get(path);
    if (entry?.kind !== 'file') return [];
    bytes += entry.bytes;
    return entry.bytes <= TEXT_BYTES_MAX && bytes <= BYTES_MAX ? [[path, entry.hash] as const] : [];
  });
  skipped += paths.length - wanted.length;
  const found = await contents(wanted.map(([, hash]) => hash));
  for (const [path, hash] of wanted) {
    const text = textIn(found.get(hash) ?? Buffer.alloc(1));
    if (text === undefined) skipped += 1;
    else texts.push({ path, lines: text.split('\n') });
  }
  return { texts, skipped };
}

function linesWith(wanted: RegExp, texts: readonly Searched[], most: number) {
  const matches: { path: string; line: number; text: string }[] = [];
  for (const { path, lines } of texts) {
    for (const [index, line] of lines.entries()) {
      if (!wanted.test(line)) continue;
      if (matches.length >= most) return { matches, more: true };
      matches.push({ path, line: index + 1, text: line.slice(0, LINE_CHARS_MAX) });
    }
  }
  return { matches };
}

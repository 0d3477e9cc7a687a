/** The tool with which a model reads a file of its run's work folder. */
import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { ToolError } from '../tool-error.js';
import { onlyInSandbox, pathInput, textAt } from './folder-text.js';

const LINES_MAX = 2_000;
const CHARS_MAX = 64 * 1024;

/** Lets an agent read text files of its work folder. */
export const readFileTool = defineTool({
  name: 'read_file',
  version: '1',
  effect: 'read',
  description:
    'Reads a text file of the work folder, with the sha256 that edit_file and write_file expect. Long files: from a line, so many lines.',
  input: z.object({
    path: pathInput,
    fromLine: z.number().int().min(1).max(10_000_000).optional().describe('Default 1'),
    lines: z.number().int().min(1).max(LINES_MAX).optional().describe(`Default ${LINES_MAX}`),
  }),
  sandbox: 'required',
  concurrencySafe: true,
  run: onlyInSandbox,
  sandboxRun: async ({ path, fromLine = 1, lines: wanted = LINES_MAX }, { sandbox }) => {
    const file = await textAt(await sandbox.look(), path);
    if (file === undefined) throw new ToolError(`The work folder has no file ${path}.`);
    const all = file.text.split('\n');
    const text = all.slice(fromLine - 1, fromLine - 1 + wanted).join('\n');
    const cut = text.length > CHARS_MAX;
    const { sha256, bytes } = file;
    return {
      path,
      sha256,
      bytes,
      lines: all.length,
      fromLine,
      text: cut ? text.slice(0, CHARS_MAX) : text,
      ...(cut && { cutAfterChars: CHARS_MAX }),
    };
  },
});

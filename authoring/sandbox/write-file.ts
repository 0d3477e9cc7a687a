/** The tool with which a model writes a whole file of its run's work folder. */
import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { ToolError } from '../tool-error.js';
import {
  bytesOf,
  hashInput,
  onlyInSandbox,
  pathInput,
  sha256,
  TEXT_BYTES_MAX,
  textAt,
} from './folder-text.js';

/** Lets an agent write text files of its work folder. */
export const writeFileTool = defineTool({
  name: 'write_file',
  version: '1',
  effect: 'write',
  idempotency: 'keyed',
  description:
    'Writes a text file of the work folder. A file that is there is replaced only when expectedSha256 is that of the file as you read it.',
  input: z.object({
    path: pathInput,
    text: z.string().max(TEXT_BYTES_MAX),
    expectedSha256: hashInput.optional().describe('Leave it out for a new file'),
  }),
  card: { labels: { path: 'File', text: 'Content', expectedSha256: 'Replaces' } },
  sandbox: 'required',
  run: onlyInSandbox,
  sandboxRun: ({ path, text, expectedSha256 }, { sandbox }) =>
    sandbox.change(async (folder) => {
      const before = folder.entries.has(path) ? await presentHash(folder, path) : undefined;
      const now = before ?? (await textAt(folder, path))?.sha256;
      if (now !== expectedSha256) {
        throw new ToolError(
          now === undefined
            ? `The work folder has no file ${path}: leave expectedSha256 out for a new one. Nothing was written.`
            : `${path} is there and is not the file that you expect: read it again. Nothing was written.`,
        );
      }
      const bytes = bytesOf(path, text);
      return {
        files: new Map([[path, bytes]]),
        result: {
          path,
          sha256: sha256(bytes),
          bytes: bytes.length,
          ...(now !== undefined && { before: now }),
        },
      };
    }),
  probe: (_input, { sandbox }) => sandbox.made(),
});

/** Also a file that is no text may be replaced. */
async function presentHash(
  folder: Parameters<typeof textAt>[0],
  path: string,
): Promise<string | undefined> {
  const entry = folder.entries.get(path);
  return entry?.kind === 'file' ? entry.hash : (await textAt(folder, path))?.sha256;
}

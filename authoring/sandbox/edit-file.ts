/** The tool with which a model changes parts of a file of its run's work folder. */
import { z } from 'zod';
import { editText } from '../../pure/work-folder/edit-text.js';
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

const EDITS_MAX = 50;

/** Lets an agent replace texts in a file of its work folder, if the file is the one that it has read. */
export const editFileTool = defineTool({
  name: 'edit_file',
  version: '1',
  effect: 'write',
  idempotency: 'keyed',
  description:
    'Replaces texts in a file of the work folder. Nothing happens unless the file is the one that you have read, and each text to find stands in it exactly once (or `all` is true).',
  input: z.object({
    path: pathInput,
    expectedSha256: hashInput,
    edits: z
      .array(
        z.object({
          find: z.string().min(1).max(TEXT_BYTES_MAX),
          replace: z.string().max(TEXT_BYTES_MAX),
          all: z
            .boolean()
            .optional()
            .describe('Replace every place; default: there is exactly one'),
        }),
      )
      .min(1)
      .max(EDITS_MAX),
  }),
  card: { labels: { path: 'File', edits: 'Changes', expectedSha256: 'Of the file as read' } },
  sandbox: 'required',
  run: onlyInSandbox,
  sandboxRun: ({ path, expectedSha256, edits }, { sandbox }) =>
    sandbox.change(async (folder) => {
      const file = await textAt(folder, path);
      if (file === undefined) throw new ToolError(`The work folder has no file ${path}.`);
      if (file.sha256 !== expectedSha256)
        throw new ToolError(`${path} is not what you expect: read it again. Nothing was changed.`);
      const edited = editText(file.text, edits);
      if (!edited.ok) throw new ToolError(`${edited.defect} Nothing was changed.`);
      const bytes = bytesOf(path, edited.text);
      return {
        files: new Map([[path, bytes]]),
        result: {
          path,
          before: file.sha256,
          sha256: sha256(bytes),
          bytes: bytes.length,
          places: edited.places,
        },
      };
    }),
  probe: (_input, { sandbox }) => sandbox.made(),
});

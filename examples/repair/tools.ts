/** What the agent can do: read, patch, and have its work tested. The checks of the goal are the last two. */
import { z } from 'zod';
import { defineTool, minutes, seconds, type Tool } from '../../index.js';
import { lintRepository, testRepository, type Judging } from './judge-repository.js';
import { applyPatch, patchOf, sha256 } from './patch.js';
import { FILE_BYTES_MAX, filesIn, textAt } from './repository-file.js';
import type { Workshop } from './workshop.js';

const path = z.string().min(1).max(200).describe('Of a file in the repository: src/amount.mjs');
const nothing = z.object({});

export interface RepairTools {
  readonly listFiles: Tool;
  readonly readFile: Tool;
  readonly patchFile: Tool;
  readonly runTests: Tool;
  readonly runLint: Tool;
}

export function repairTools(judging: Judging & { readonly workshop: Workshop }): RepairTools {
  const { workshop } = judging;
  return {
    ...readingTools(workshop),
    patchFile: patchFile(workshop),
    ...judgingTools(judging),
  };
}

function readingTools({ repository }: Workshop): Pick<RepairTools, 'listFiles' | 'readFile'> {
  return {
    listFiles: defineTool({
      name: 'list_files',
      version: '1',
      description: 'The paths of all files in the repository.',
      effect: 'read',
      input: nothing,
      run: () => ({ files: filesIn(repository) }),
    }),
    readFile: defineTool({
      name: 'read_file',
      version: '1',
      description: 'A file of the repository, with the sha256 that patch_file expects.',
      effect: 'read',
      input: z.object({ path }),
      run: (input) => {
        const text = textAt(repository, input.path);
        return { path: input.path, sha256: sha256(text), text };
      },
    }),
  };
}

/** Keyed: however often a call is delivered, the file changes once. */
function patchFile(workshop: Workshop): Tool {
  return defineTool({
    name: 'patch_file',
    version: '1',
    description:
      'Replaces a text that stands exactly once in a file. Nothing happens unless the file is the one that you have read.',
    effect: 'write',
    idempotency: 'keyed',
    input: z.object({
      path,
      expectedSha256: z.string().regex(/^[0-9a-f]{64}$/, 'is the sha256 that read_file gives'),
      find: z.string().min(1).max(FILE_BYTES_MAX),
      replace: z.string().max(FILE_BYTES_MAX),
    }),
    timeoutMs: seconds(10),
    run: (input, ctx) => applyPatch(workshop, ctx.idempotencyKey, input),
    probe: (_input, ctx) => patchOf(workshop, ctx.idempotencyKey),
  });
}

/** They change nothing: each works on a copy that is thrown away. */
function judgingTools(judging: Judging): Pick<RepairTools, 'runTests' | 'runLint'> {
  return {
    runTests: defineTool({
      name: 'run_tests',
      version: '1',
      description:
        'Runs the tests on the code in src/. The tests are a copy outside of the repository: changing test/ changes nothing.',
      effect: 'read',
      input: nothing,
      timeoutMs: minutes(2),
      run: (_input, ctx) => testRepository(judging, ctx.signal),
    }),
    runLint: defineTool({
      name: 'run_lint',
      version: '1',
      description: 'Runs the linter on src/, with rules from outside of the repository.',
      effect: 'read',
      input: nothing,
      timeoutMs: minutes(1),
      run: (_input, ctx) => lintRepository(judging, ctx.signal),
    }),
  };
}

/** A disk whose syncs take long, for a process that is started with what this gives: on Linux, with a C compiler. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HoldfastError } from '../../../core/state/errors.js';

const SOURCE = join('lab', 'bench', 'slow-disk', 'slow-sync.c');
const LIBRARY = 'slow-sync.so';

/** The variables of such a process; what is compiled lies in `folder`. Errors: `InvalidConfig`. */
export async function slowDisk(
  folder: string,
  syncMs: number,
): Promise<Readonly<Record<string, string>>> {
  const library = join(folder, LIBRARY);
  try {
    await promisify(execFile)('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl']);
  } catch (cause) {
    throw new HoldfastError('InvalidConfig', 'The slow disk cannot be compiled.', {
      hint: 'Run this on Linux, at the root of the repository, with a C compiler (`cc`).',
      cause,
    });
  }
  return { LD_PRELOAD: library, SLOW_SYNC_US: String(Math.round(syncMs * 1_000)) };
}

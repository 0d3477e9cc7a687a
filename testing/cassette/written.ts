/** The file that a recording is written to: whole, or the old one stays. */
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import { makeFolder } from '../../store/make-folder.js';

/** Before a vendor is asked, which costs money. Makes the folder. Errors: FileUnusable. */
export async function checkWritable(file: string): Promise<void> {
  try {
    makeFolder(dirname(file));
    const found = await stat(file).catch(() => undefined);
    if (found?.isDirectory() === true) throw new Error(`${file} is a folder`);
    const draft = draftOf(file);
    await writeFile(draft, '');
    await rm(draft, { force: true });
  } catch (cause) {
    throw new HoldfastError('FileUnusable', `The cassette cannot be written to ${file}.`, {
      hint: `Name another file, or give this user the right: ${(cause as Error).message}`,
      cause,
    });
  }
}

export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = draftOf(file);
  await writeFile(draft, text);
  await rename(draft, file);
}

function draftOf(file: string): string {
  return `${file}.${process.pid}.tmp`;
}

/** A path that is attached names a file: nothing else is read, and nothing is waited for. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attach } from '../../../client/runs/attach.js';

test('a pipe is no file, and nobody waits for its writer', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'pipe-')), 'pipe.pdf');
  execFileSync('mkfifo', [path]);
  // Nothing of the link is needed before the file has been read.
  await expect(attach({} as Parameters<typeof attach>[0], { path })).rejects.toMatchObject({
    code: 'UnsupportedContent',
    message: expect.stringContaining('pipe.pdf is no file'),
  });
});

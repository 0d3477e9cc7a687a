import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the pinned binary prints. */
export const GOOD_VERSION = 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)';

/** A folder of this test's own. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'holdfast-devserver-'));
}

/** A shell script that prints a version line, as `temporal` in the folder. */
export function fakeTemporal(folder: string, versionLine: string = GOOD_VERSION): string {
  return script(folder, 'temporal', `echo '${versionLine}'`);
}

/** A `go` that writes a fake `temporal` after a while and counts its builds in a file. */
export function fakeGo(folder: string, countFile: string): string {
  return script(
    folder,
    'go',
    [
      `echo "$CGO_ENABLED $GOFLAGS $*" >> '${countFile}'`,
      'test -f go.mod && test -f go.sum || exit 3',
      'echo "go: downloading example v1.0.0" >&2',
      '/bin/sleep 1',
      `printf '#!/bin/sh\\necho "${GOOD_VERSION}"\\n' > temporal`,
      '/bin/chmod +x temporal',
    ].join('\n'),
  );
}

/** A folder for PATH with the real tools of these names only. */
export function toolsFolder(folder: string, tools: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  for (const tool of tools) symlinkSync(join('/bin', tool), join(folder, tool));
  return folder;
}

/** An executable shell script. */
export function script(folder: string, name: string, body: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

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

/**
 * A `go` that writes a fake `temporal` and counts its builds in a file; `until`: it does so once these words stand in
 * this file, a minute later at the latest.
 */
export function fakeGo(
  folder: string,
  countFile: string,
  until?: { readonly file: string; readonly words: string },
): string {
  const wait =
    until &&
    `n=0; until /bin/grep -qs '${until.words}' '${until.file}' || test $n -ge 600; do /bin/sleep 0.1; n=$((n + 1)); done`;
  return script(
    folder,
    'go',
    [
      `echo "$CGO_ENABLED $GOFLAGS $*" >> '${countFile}'`,
      'test -f go.mod && test -f go.sum || exit 3',
      'echo "go: downloading example v1.0.0" >&2',
      ...(wait === undefined ? [] : [wait]),
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

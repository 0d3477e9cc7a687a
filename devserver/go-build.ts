import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { executableName, onPath, type Environment } from './environment.js';
import { CLI_VERSION, GO_VERSION_MIN } from './pins.js';
import { reportStep, type OnProgress } from './progress.js';
import { lastLines, runCommand } from './run-command.js';

/** About 4 minutes on two cores with cold caches; a slow machine may take several times that. */
const BUILD_TIMEOUT_MS = 1_800_000;
const SMALL_MEMORY_BYTES = 4.5e9;
const CLI_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
const VERSION_VARIABLE = 'github.com/temporalio/cli/internal/temporalcli.Version';

export interface BuildRequest {
  readonly environment: Environment;
  /** Folder that receives the binary. */
  readonly workFolder: string;
  readonly onProgress?: OnProgress;
}

/** Builds the pinned CLI with the machine's Go; throws a plain Error with the reason. */
export async function buildCli(request: BuildRequest): Promise<void> {
  const go = onPath(request.environment, 'go')[0];
  if (go === undefined) throw new Error('there is no `go` on PATH');
  // A copy, because an installed package may be read-only.
  const module = moduleFolder();
  for (const file of ['go.mod', 'go.sum']) {
    await copyFile(join(module, file), join(request.workFolder, file));
  }
  const title = `Building Temporal CLI ${CLI_VERSION} with Go (once, about 4 minutes on two cores)`;
  const report = reportStep('build', title, request.onProgress);
  let packages = 0;
  try {
    const result = await runCommand({
      file: go,
      args: buildArguments(),
      environment: buildEnvironment(request.environment),
      folder: request.workFolder,
      timeoutMs: BUILD_TIMEOUT_MS,
      onLine: (line) => {
        if (line.startsWith('go: ')) return report.say(line.slice(0, 200));
        packages += 1;
        report.say(`Compiled ${packages} packages`);
      },
    });
    if (!result.ok)
      throw new Error(`go build failed: ${result.failure}: ${lastLines(result.output)}`);
  } finally {
    report.stop();
  }
}

/** go.mod lies beside the sources, and two folders up from dist/devserver. */
function moduleFolder(): string {
  const candidates = [__dirname, join(__dirname, '..', '..', 'devserver')];
  const found = candidates.find((folder) => existsSync(join(folder, 'go.mod')));
  if (found === undefined) {
    throw new Error(
      `devserver/go.mod is missing from the package (looked in ${candidates.join(', ')})`,
    );
  }
  return found;
}

function buildArguments(): readonly string[] {
  return [
    'build',
    '-v',
    // The compilers of more than two packages at once do not fit a small memory.
    ...(totalmem() <= SMALL_MEMORY_BYTES ? ['-p', '2'] : []),
    '-trimpath',
    '-buildvcs=false',
    '-tags',
    'disable_grpc_modules',
    '-ldflags',
    `-s -w -X ${VERSION_VARIABLE}=${CLI_VERSION}`,
    '-o',
    executableName('temporal'),
    CLI_PACKAGE,
  ];
}

/**
 * GOFLAGS=-mod=readonly makes go.sum the pin; as it is complete, no checksum database is asked,
 * so the build works where that is out of reach.
 */
function buildEnvironment(environment: Environment): Environment {
  return { ...environment, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' };
}

/** What to install for this route. */
export const GO_REMEDY = `install Go ${GO_VERSION_MIN} or newer`;

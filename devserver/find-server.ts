import { HoldfastError } from '../core/state/errors.js';
import { cliFromCache, type Route, type RouteFailure } from './cli-cache.js';
import { downloadCli } from './download.js';
import { cacheFolder, onPath, thisMachine, type Environment } from './environment.js';
import { GO_REMEDY, buildCli } from './go-build.js';
import { CLI_VERSION_MIN, SERVER_VERSION_MIN } from './pins.js';
import { answersAt } from './ports.js';
import type { OnProgress } from './progress.js';
import { checkVersions, type Versions } from './versions.js';

export interface FindServerOptions {
  readonly environment: Environment;
  /** Address of a running server; when given, nothing else is tried. */
  readonly address?: string;
  /** Path of a `temporal` binary; when given, nothing else is tried. */
  readonly binary?: string;
  /** Default: cacheFolder(environment). */
  readonly cacheDir?: string;
  /** Whether to look on the internet; default true. */
  readonly allowDownload?: boolean;
  /** Whether to build with Go; default true. */
  readonly allowBuild?: boolean;
  /** A mirror of the CLI's releases. */
  readonly releasesUrl?: string;
  /** What the caller's settings are called, for the hints of errors. */
  readonly settingNames?: { readonly address: string; readonly binary: string };
  readonly onProgress?: OnProgress;
}

/** A binary that can be started, and where it came from. */
export interface ServerBinary {
  readonly kind: 'binary';
  readonly path: string;
  readonly versions: Versions;
  readonly source: 'configured' | 'path' | 'cache' | 'download' | 'build';
}

/** A server that runs already. */
export interface ServerAddress {
  readonly kind: 'address';
  readonly address: string;
}

export type FoundServer = ServerAddress | ServerBinary;

const ADDRESS_TIMEOUT_MS = 3000;

/**
 * Finds a Temporal server: configured address, configured binary, PATH, cache, download, Go build.
 * A setting that does not work is an error and not a reason to take another server.
 */
export async function findServer(options: FindServerOptions): Promise<FoundServer> {
  if (options.address !== undefined) return configuredAddress(options.address);
  if (options.binary !== undefined) return configuredBinary(options.binary, options.environment);

  const failures: RouteFailure[] = [];
  for (const path of onPath(options.environment, 'temporal')) {
    const check = await checkVersions(path, options.environment);
    if (check.ok) return { kind: 'binary', path, versions: check.versions, source: 'path' };
    failures.push({ route: 'path', reason: check.reason });
  }
  if (failures.length === 0) failures.push({ route: 'path', reason: 'no `temporal` on PATH' });

  const cached = await cliFromCache({
    cacheDir: options.cacheDir ?? cacheFolder(options.environment),
    environment: options.environment,
    routes: allowedRoutes(options),
    onProgress: options.onProgress,
  });
  if (cached.ok) {
    return { kind: 'binary', path: cached.path, versions: cached.versions, source: cached.source };
  }
  throw nothingFound(options, [...failures, ...cached.failures]);
}

function allowedRoutes(options: FindServerOptions): readonly Route[] {
  const { environment, onProgress, releasesUrl } = options;
  const download: Route = {
    name: 'download',
    fill: (workFolder) =>
      downloadCli({ machine: thisMachine(), environment, workFolder, releasesUrl, onProgress }),
  };
  const build: Route = {
    name: 'build',
    fill: (workFolder) => buildCli({ environment, workFolder, onProgress }),
  };
  return [
    ...(options.allowDownload === false ? [] : [download]),
    ...(options.allowBuild === false ? [] : [build]),
  ];
}

async function configuredAddress(address: string): Promise<ServerAddress> {
  if (await answersAt(address, ADDRESS_TIMEOUT_MS)) return { kind: 'address', address };
  throw new HoldfastError('ServerUnavailable', `No server answers at the address ${address}.`, {
    hint: 'Start that server, or correct the address (host:port), or remove the setting to use an embedded server.',
    details: { address },
  });
}

async function configuredBinary(path: string, environment: Environment): Promise<ServerBinary> {
  const check = await checkVersions(path, environment);
  if (check.ok) return { kind: 'binary', path, versions: check.versions, source: 'configured' };
  throw new HoldfastError(
    'ServerUnavailable',
    `The configured binary cannot be used: ${check.reason}.`,
    {
      hint: `Point the setting to a Temporal CLI ${CLI_VERSION_MIN} or newer with server ${SERVER_VERSION_MIN} or newer, or remove it.`,
      details: { binary: path },
    },
  );
}

function nothingFound(options: FindServerOptions, tried: readonly RouteFailure[]): HoldfastError {
  const skipped: readonly RouteFailure[] = [
    ...(options.allowDownload === false
      ? [{ route: 'download' as const, reason: 'downloads are not allowed' }]
      : []),
    ...(options.allowBuild === false
      ? [{ route: 'build' as const, reason: 'building is not allowed' }]
      : []),
  ];
  const routes = [...tried, ...skipped];
  const names = options.settingNames;
  const ways = [
    `set the address of a running server${names ? ` (${names.address})` : ''}`,
    `set the path of a \`temporal\` binary${names ? ` (${names.binary})` : ''}`,
    `install the Temporal CLI ${CLI_VERSION_MIN} or newer so that \`temporal\` is on PATH`,
    'allow downloads and give this machine access to github.com',
    `allow building and ${GO_REMEDY}`,
  ];
  const lines = routes.map(({ route, reason }) => `  ${route}: ${reason}`);
  return new HoldfastError(
    'ServerUnavailable',
    ['No Temporal server was found and none could be made.', ...lines].join('\n'),
    { hint: `Do one of these: ${ways.join('; ')}.`, details: { routes, ways } },
  );
}

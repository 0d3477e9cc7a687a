import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { executableName, isExecutable, thisMachine, type Environment } from './environment.js';
import { CLI_VERSION } from './pins.js';
import { makeFolder } from '../store/make-folder.js';
import { withFileLock } from '../store/sqlite/file-lock.js';
import { waitedTooLong } from './wait-limit.js';
import { reportStep, type OnProgress, type StepReport } from './progress.js';
import { checkVersions, type VersionCheck, type Versions } from './versions.js';

/** The longest build plus the longest download, of another process. */
const LOCK_WAIT_MS = 2_400_000;
const ABANDONED_AFTER_MS = 3_600_000;

/** One way to get the binary into a folder; a failed one throws an Error with the reason. */
export interface Route {
  readonly name: 'download' | 'build';
  readonly fill: (workFolder: string) => Promise<void>;
}

export interface RouteFailure {
  readonly route: 'path' | 'cache' | Route['name'];
  readonly reason: string;
}

export interface CacheRequest {
  readonly cacheDir: string;
  readonly environment: Environment;
  readonly routes: readonly Route[];
  readonly onProgress?: OnProgress;
}

/** A binary that works, or why no route gave one. */
export type CacheResult =
  | {
      readonly ok: true;
      readonly path: string;
      readonly versions: Versions;
      readonly source: 'cache' | Route['name'];
    }
  | { readonly ok: false; readonly failures: readonly RouteFailure[] };

/** Where the pinned CLI lies in a cache folder. */
export function cachedCli(cacheDir: string): string {
  const { platform, arch } = thisMachine();
  return join(cacheDir, 'temporal', CLI_VERSION, `${platform}-${arch}`, executableName('temporal'));
}

/** The cached binary, filled by the first route that works; of several processes one does the work. */
export async function cliFromCache(request: CacheRequest): Promise<CacheResult> {
  const path = cachedCli(request.cacheDir);
  const before = await usable(path, request.environment);
  if (before?.ok === true) return { ok: true, path, versions: before.versions, source: 'cache' };
  const damaged: readonly RouteFailure[] =
    before === undefined ? [] : [{ route: 'cache', reason: before.reason }];
  if (request.routes.length === 0) return { ok: false, failures: damaged };

  let waiting: StepReport | undefined;
  try {
    const lockFile = join(path, '..', 'filling.lock');
    makeFolder(dirname(lockFile));
    const lock = {
      path: lockFile,
      waitMs: LOCK_WAIT_MS,
      onWait: () => {
        const message = 'Another process is fetching or building Temporal; waiting for it';
        waiting = reportStep('wait', message, request.onProgress);
      },
      tooLong: () => waitedTooLong(lockFile, LOCK_WAIT_MS),
    };
    return await withFileLock(lock, () => {
      waiting?.stop();
      return fillUnderLock(request, path, damaged);
    });
  } finally {
    waiting?.stop();
  }
}

async function fillUnderLock(
  request: CacheRequest,
  path: string,
  damaged: readonly RouteFailure[],
): Promise<CacheResult> {
  const meanwhile = await usable(path, request.environment);
  if (meanwhile?.ok === true) {
    return { ok: true, path, versions: meanwhile.versions, source: 'cache' };
  }
  await removeAbandoned(join(path, '..'));
  const failures: RouteFailure[] = [...damaged];
  for (const route of request.routes) {
    const outcome = await tryRoute(route, path, request.environment);
    if (outcome.ok) return { ok: true, path, versions: outcome.versions, source: route.name };
    failures.push({ route: route.name, reason: outcome.reason });
  }
  return { ok: false, failures };
}

async function tryRoute(
  route: Route,
  path: string,
  environment: Environment,
): Promise<VersionCheck> {
  const workFolder = await mkdtemp(join(path, '..', 'work-'));
  try {
    await route.fill(workFolder);
    const made = join(workFolder, executableName('temporal'));
    const check = await checkVersions(made, environment);
    if (check.ok) await rename(made, path);
    return check;
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

async function usable(path: string, environment: Environment): Promise<VersionCheck | undefined> {
  return isExecutable(path) ? checkVersions(path, environment) : undefined;
}

/** Removes what builders left that were killed; a work folder can hold a gigabyte. */
async function removeAbandoned(folder: string): Promise<void> {
  makeFolder(folder);
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (!name.startsWith('work-')) continue;
    if (Date.now() - (await stat(file)).mtimeMs < ABANDONED_AFTER_MS) continue;
    await rm(file, { recursive: true, force: true });
  }
}

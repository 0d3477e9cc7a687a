/**
 * From saved files to live code.
 * Invariants: code that cannot be loaded, or that no worker could serve, is told with its place and changes nothing; saves
 * while code is being loaded are one more load after it; a desk that does not start is no failed load.
 */
import { basename, relative } from 'node:path';
import type { Config } from '../../authoring/index.js';
import type { Environment } from '../../worker/config.js';
import { durationText, inertLines, plural } from '../render/index.js';
import type { Output } from '../terminal/output.js';
import type { DevDesk } from './dev-desk.js';
import type { LiveCode } from './live-code.js';
import { loadFailureLines, placeOfError, type ProjectCode } from './project-code.js';
import { providersOf, type DevWorkers } from './dev-workers.js';

export interface Reloading {
  readonly code: Pick<ProjectCode, 'load' | 'isLoaded'>;
  /** What the workers began with. */
  readonly config: Config;
  /** Places of errors are told from here. */
  readonly folder: string;
  readonly live: LiveCode;
  readonly desk: DevDesk;
  readonly workers: DevWorkers;
  readonly place: Environment;
}

export interface Reloader {
  changed(files: readonly string[]): void;
  /** Whatever was saved. */
  now(): void;
  /** Waits for what is being loaded. */
  stop(): Promise<void>;
}

const FILES_SHOWN_MAX = 3;
/** A load that takes longer is told of. */
const SLOW_MS = 5_000;

export function reloader(at: Reloading, output: Output): Reloader {
  let waiting: ReadonlySet<string> | undefined;
  let isOver = false;
  let loading: Promise<void> = Promise.resolve();
  const want = (files: readonly string[]): void => {
    const isIdle = waiting === undefined;
    waiting = new Set([...(waiting ?? []), ...files]);
    if (!isIdle) return;
    loading = loading.then(async () => {
      const saved = waiting ?? new Set<string>();
      waiting = undefined;
      if (!isOver) await reload(at, [...saved], output);
    });
  };
  return {
    changed: want,
    now: () => want([]),
    async stop() {
      isOver = true;
      await loading;
    },
  };
}

async function reload(at: Reloading, files: readonly string[], output: Output): Promise<void> {
  const { code, folder, live, workers, place } = at;
  const from = performance.now();
  const names = files.map((file) => relative(folder, file) || basename(file));
  try {
    const config = await loaded(code, output);
    const { unreachableModels } = await import('../../worker/unreachable-models.js');
    const { newRemarks } = await import('../../authoring/remarks.js');
    const providers = await providersOf(place, config);
    workers.serveQueuesOf(config);
    const underWay = await live.replace({ config, providers });
    const tookMs = Math.round(performance.now() - from);
    output.data({ live: names, tookMs, runsUnderWay: underWay });
    const isCode = new Set(names.filter((_, at) => code.isLoaded(files[at] ?? '')));
    output.remark(liveLine({ names, isCode, tookMs, underWay }));
    for (const line of [...unreachableModels(config, providers), ...newRemarks(config)])
      output.remark(line);
    await showDesk(at, config, output);
    for (const line of restartLines(at.config, config)) output.remark(line);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    output.data({ failed: names, at: placeOfError(error, folder) ?? null, message });
    output.remark(failureText('The code before it stays', error, folder));
  }
}

/** A load that takes long is told of: an `await` at the top of a module may never end. */
async function loaded({ load }: Reloading['code'], output: Output): Promise<Config> {
  const slow = setTimeout(
    () => output.remark('The code is still being loaded; saves count when that has ended.'),
    SLOW_MS,
  );
  try {
    return await load();
  } finally {
    clearTimeout(slow);
  }
}

async function showDesk({ desk, folder }: Reloading, config: Config, output: Output) {
  try {
    await desk.show(config);
  } catch (error) {
    output.remark(
      failureText('The code is live, and the approval desk does not run', error, folder),
    );
  }
}

function failureText(means: string, error: unknown, folder: string): string {
  const [first = '', ...more] = loadFailureLines(error, folder);
  return [`${means}: ${first}`, ...more].flatMap((line) => inertLines(line)).join('\n');
}

/** What a worker is made with, and no save changes. */
function restartLines(begun: Config, now: Config): readonly string[] {
  const [before, after] = [begun, now].map(({ connection, worker }) =>
    JSON.stringify([connection, worker]),
  );
  return before === after
    ? []
    : ['Other settings of the connection or the worker count when `holdfast dev` is started anew.'];
}

interface Live {
  readonly names: readonly string[];
  /** Those of which the load has made code; the others it may have read, and nobody can tell. */
  readonly isCode: ReadonlySet<string>;
  readonly tookMs: number;
  readonly underWay: number;
}

function liveLine({ names, isCode, tookMs, underWay }: Live): string {
  const kept =
    underWay === 0
      ? ''
      : `; ${plural(underWay, 'run')} under way ${underWay === 1 ? 'keeps its own' : 'keep their own'}`;
  const then = `for runs that begin now (${durationText(tookMs)})${kept}.`;
  if (names.length === 0) return `The code is live ${then}`;
  if (isCode.size > 0) return `The code of ${shownNames([...isCode])} is live ${then}`;
  const have = names.length === 1 ? 'has' : 'have';
  return `${shownNames(names)} ${have} changed, so the code is loaded anew ${then}`;
}

function shownNames(names: readonly string[]): string {
  const more = names.length - FILES_SHOWN_MAX;
  return names.slice(0, FILES_SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

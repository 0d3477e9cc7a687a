/**
 * Says in the store what this worker serves, for as long as it serves (G118).
 * Invariants: a store that is away ends nothing and is told once, and once that it is back; a worker that ends says so, but does not wait for
 * long; whatever is said of a configuration is what its activities find in it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../authoring/index.js';
import { HoldfastError } from '../core/state/errors.js';
import { toolKey } from '../core/state/tool.js';
import type { CodeNames, QueueName } from '../store/served.js';
import type { Store } from '../store/store.js';

const EVERY_MS = 10_000;
/** A store that did not answer is asked again after this. */
const AGAIN_MS = 2_000;
/** How long the first word, and the last one, may take. */
const PATIENCE_MS = 3_000;

export interface AnnouncerSettings extends QueueName {
  readonly store: Pick<Store, 'announceServed' | 'renewServed' | 'endServed'>;
  readonly code: CodeNames;
  /** For whoever operates the worker. */
  readonly tell: (line: string) => void;
  /** Between two words; default 10,000. */
  readonly everyMs?: number;
}

export interface Announcer {
  /** Another code is served from now on. Resolves when the store has the word, or took too long for it. */
  update(code: CodeNames): Promise<void>;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** Resolves when the first word is in the store, or the store took too long for it. */
export async function startAnnouncer(settings: AnnouncerSettings): Promise<Announcer> {
  const ending = new AbortController();
  const worker = randomUUID();
  let { code } = settings;
  // Every word says what is served when it is said.
  const current = { ...settings, code: () => code };
  const first = announce(current, worker);
  await within(first);
  const loop = repeat(current, { worker, first, signal: ending.signal });
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    ending.abort();
    await within(loop.then(() => settings.store.endServed(worker)));
  };
  return {
    async update(served) {
      code = served;
      // A worker that ends says nothing more.
      if (!ending.signal.aborted) await within(announce(current, worker));
    },
    stop: () => (ended ??= end()),
  };
}

/** What the activities of a worker with this configuration find. */
export function codeServed(config: Config, providers: Iterable<string>): CodeNames {
  return {
    agents: [...config.agents.keys()],
    tools: [...config.tools.values()].map(
      ({ record }) => `${toolKey(record)}#${record.schemaHash}`,
    ),
    hooks: [...config.hooks.keys()],
    providers: [...providers],
  };
}

type Announcing = Omit<AnnouncerSettings, 'code'> & { readonly code: () => CodeNames };

interface Life {
  readonly worker: string;
  readonly first: Promise<void>;
  readonly signal: AbortSignal;
}

async function repeat(settings: Announcing, life: Life): Promise<void> {
  const { everyMs = EVERY_MS, tell } = settings;
  const { worker, signal } = life;
  let word = life.first;
  let awayAt: number | undefined;
  while (!signal.aborted) {
    const why = await word.then(
      () => undefined,
      (cause: unknown) => reasonOf(cause),
    );
    const failed = why !== undefined;
    if (failed && awayAt === undefined && !signal.aborted) {
      tell(
        `The store does not answer: nobody can see what this worker serves, and runs wait.${why} See holdfast doctor.`,
      );
    }
    if (failed) awayAt ??= performance.now();
    else if (awayAt !== undefined) {
      const seconds = Math.max(1, Math.round((performance.now() - awayAt) / 1_000));
      tell(`The store answers again, after ${seconds} s: runs go on with their next tries.`);
      awayAt = undefined;
    }
    await pause(failed ? Math.min(AGAIN_MS, everyMs) : everyMs, signal);
    if (!signal.aborted) word = renew(settings, worker);
  }
}

/** With what mends it, as far as the store knows: a full disk says so by itself. */
function reasonOf(cause: unknown): string {
  return cause instanceof HoldfastError ? ` ${cause.message} ${cause.hint ?? ''}`.trimEnd() : '';
}

async function renew(settings: Announcing, worker: string): Promise<void> {
  if (await settings.store.renewServed(worker)) return;
  await announce(settings, worker);
}

function announce(settings: Announcing, worker: string): Promise<void> {
  const { store, namespace, taskQueue, code } = settings;
  return store.announceServed({ worker, namespace, taskQueue, code: code() });
}

async function within(work: Promise<unknown>): Promise<void> {
  const late = new AbortController();
  await Promise.race([work.catch(() => undefined), pause(PATIENCE_MS, late.signal)]);
  late.abort();
}

/** A worker that has nothing else to do may end. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../core/state/errors.js';
import { asIdentity, isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';

/*
 * A lock between processes that survives a kill -9 of its holder.
 * The folder holds numbered claims; the highest one counts. A claim is created with its content in
 * one step (link), so of many takers one wins. A dead or released claim is never removed by judging
 * it, only outnumbered: two processes that see the same stale claim cannot both take over. Releasing
 * marks the claim instead of removing it, so numbers never start again.
 */

export interface LockRequest {
  readonly folder: string;
  /** Longest wait for another holder. */
  readonly waitMs: number;
  /** Called once when the wait begins. */
  readonly onWait?: (holder: ProcessIdentity) => void;
}

interface Claim {
  readonly holder: ProcessIdentity;
  readonly released: boolean;
}

type Attempt =
  | { readonly state: 'mine'; readonly file: string }
  | { readonly state: 'held'; readonly holder: ProcessIdentity }
  | { readonly state: 'raced' };

const POLL_MS = 50;

/** Runs `work` while no other process (and no other caller in this one) does under the same folder. */
export async function withLock<T>(request: LockRequest, work: () => Promise<T>): Promise<T> {
  await mkdir(request.folder, { recursive: true });
  const self = await ownIdentity();
  const file = await acquire(request, self);
  try {
    return await work();
  } finally {
    await writeClaim(request.folder, { holder: self, released: true }, (temporary) =>
      rename(temporary, file),
    );
  }
}

async function acquire(request: LockRequest, self: ProcessIdentity): Promise<string> {
  const deadline = performance.now() + request.waitMs;
  let told = false;
  for (;;) {
    const attempt = await tryClaim(request.folder, self);
    if (attempt.state === 'mine') return attempt.file;
    if (attempt.state === 'held') {
      if (!told) request.onWait?.(attempt.holder);
      told = true;
    }
    if (performance.now() > deadline) throw waitedTooLong(request, attempt);
    await sleep(POLL_MS);
  }
}

async function tryClaim(folder: string, self: ProcessIdentity): Promise<Attempt> {
  const before = await highestClaim(folder);
  if (before > 0) {
    const claim = await readClaim(folder, before);
    if (claim !== undefined && !claim.released && (await isAlive(claim.holder))) {
      return { state: 'held', holder: claim.holder };
    }
  }
  const mine = before + 1;
  const file = claimFile(folder, mine);
  const created = await writeClaim(folder, { holder: self, released: false }, (temporary) =>
    link(temporary, file),
  );
  if (!created) return { state: 'raced' };
  if ((await highestClaim(folder)) !== mine) {
    // Our number was reused after a later holder had cleaned it away.
    await rm(file, { force: true });
    return { state: 'raced' };
  }
  await Promise.all(
    (await claimNumbers(folder))
      .filter((number) => number < mine)
      .map((number) => rm(claimFile(folder, number), { force: true })),
  );
  return { state: 'mine', file };
}

/** Writes the claim aside and puts it in place; false when another claim is there already. */
async function writeClaim(
  folder: string,
  claim: Claim,
  place: (temporary: string) => Promise<void>,
): Promise<boolean> {
  const temporary = join(folder, `writing-${randomUUID()}`);
  try {
    await writeFile(temporary, JSON.stringify(claim));
    await place(temporary);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** A claim that cannot be read was removed or damaged; both mean that nobody holds it. */
async function readClaim(folder: string, number: number): Promise<Claim | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(claimFile(folder, number), 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { holder, released } = parsed as { holder?: unknown; released?: unknown };
    const identity = asIdentity(holder);
    return identity && { holder: identity, released: released === true };
  } catch {
    return undefined;
  }
}

async function highestClaim(folder: string): Promise<number> {
  return (await claimNumbers(folder)).reduce((high, number) => Math.max(high, number), 0);
}

async function claimNumbers(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => {
    const match = /^claim-(\d+)$/.exec(name);
    return match ? [Number(match[1])] : [];
  });
}

function claimFile(folder: string, number: number): string {
  return join(folder, `claim-${number}`);
}

function waitedTooLong(request: LockRequest, attempt: Attempt): HoldfastError {
  const holder = attempt.state === 'held' ? `process ${attempt.holder.pid}` : 'other processes';
  return new HoldfastError(
    'ServerUnavailable',
    `Waited ${Math.round(request.waitMs / 1000)} s for ${holder}, which holds the lock ${request.folder}.`,
    { hint: `Wait for it to end, or end it, and try again.`, details: { folder: request.folder } },
  );
}

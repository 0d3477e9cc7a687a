import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownIdentity } from '../../devserver/process-identity.js';
import { withLock } from '../../devserver/process-lock.js';
import { temporaryFolder } from './fakes.js';

/** No process has this id on Linux or macOS. */
const DEAD_PID = 2 ** 30;

function writeClaim(folder: string, number: number, content: unknown): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `claim-${number}`), JSON.stringify(content));
}

/** Runs many callers at once and returns how many were inside together at most. */
async function crowd(folder: string, callers: number): Promise<number> {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(5);
    inside -= 1;
  };
  await Promise.all(
    Array.from({ length: callers }, () => withLock({ folder, waitMs: 20_000 }, work)),
  );
  return most;
}

describe('the lock between processes', () => {
  it('lets one caller in at a time', async () => {
    expect(await crowd(join(temporaryFolder(), 'lock'), 12)).toBe(1);
  });

  it('lets one of many takers take over the claim of a dead process', async () => {
    const folder = join(temporaryFolder(), 'lock');
    writeClaim(folder, 7, { holder: { pid: DEAD_PID, started: '1' }, released: false });
    expect(await crowd(folder, 12)).toBe(1);
  });

  it('does not mistake a process that got the same id for the holder', async () => {
    const folder = join(temporaryFolder(), 'lock');
    writeClaim(folder, 1, { holder: { pid: process.pid, started: 'long ago' }, released: false });
    await expect(withLock({ folder, waitMs: 1000 }, () => Promise.resolve('in'))).resolves.toBe(
      'in',
    );
  });

  it('takes over a claim that is damaged', async () => {
    const folder = join(temporaryFolder(), 'lock');
    mkdirSync(folder);
    writeFileSync(join(folder, 'claim-3'), '{"holder"');
    await expect(withLock({ folder, waitMs: 1000 }, () => Promise.resolve('in'))).resolves.toBe(
      'in',
    );
  });

  it('tells who holds it and gives up after the limit', async () => {
    const folder = join(temporaryFolder(), 'lock');
    writeClaim(folder, 1, { holder: await ownIdentity(), released: false });
    const seen: number[] = [];
    const request = {
      folder,
      waitMs: 200,
      onWait: ({ pid }: { readonly pid: number }) => seen.push(pid),
    };
    await expect(withLock(request, () => Promise.resolve())).rejects.toMatchObject({
      code: 'ServerUnavailable',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(seen).toEqual([process.pid]);
  });

  it('is free again after a failure, and leaves one file', async () => {
    const folder = join(temporaryFolder(), 'lock');
    const failing = withLock({ folder, waitMs: 1000 }, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await withLock({ folder, waitMs: 1000 }, () => Promise.resolve());
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

/** Which of the changes that are built into a copy do cases notice? */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Order, Report } from './player.js';

/** A change that keeps one process this long goes round for ever. */
const LIMIT_MS = 300_000;

export type Noticed = (id: number, by: string | undefined) => void;

/** Says of each of `count` changes, in their order, which case noticed it. */
export async function playAll(folder: string, count: number, say: Noticed): Promise<void> {
  let player = await startPlayer(folder);
  const sound = await player.follow({ cases: [] });
  if (typeof sound === 'string') throw new Error(`The cases cannot be played: ${sound}`);
  if (sound.noticed !== undefined)
    throw new Error(`A case fails without a change: ${sound.noticed}`);
  for (let id = 0; id < count; id += 1) {
    const cases = [...sound.differed.keys()].filter((index) => sound.differed[index]!.includes(id));
    let noticed: string | undefined;
    if (cases.length > 0) {
      const report = await player.follow({ mutant: id, cases });
      noticed = typeof report === 'string' ? report : report.noticed;
      if (typeof report === 'string') player = await startPlayer(folder);
    }
    if (noticed === undefined && sound.atLoad.includes(id))
      noticed = await fromTheStart(folder, id);
    say(id, noticed);
  }
  player.stop();
}

/** What is decided as the sources are loaded is decided once: another process loads them. */
async function fromTheStart(folder: string, id: number): Promise<string | undefined> {
  try {
    const player = await startPlayer(folder, id);
    const report = await player.follow({ mutant: id, cases: [] });
    player.stop();
    return typeof report === 'string' ? report : report.noticed;
  } catch (error) {
    return (error as Error).message;
  }
}

interface Player {
  /** A text says why there is no report. */
  follow(order: Order): Promise<Report | string>;
  stop(): void;
}

async function startPlayer(folder: string, mutant?: number): Promise<Player> {
  const child = fork('lab/mutation/player.ts', {
    cwd: folder,
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, ...(mutant !== undefined && { MUTANT: String(mutant) }) },
  });
  const ready = await answerOf(child);
  if (typeof ready === 'string') throw new Error(ready);
  return {
    async follow(order) {
      child.send(order);
      return (await answerOf(child)) as Report | string;
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LIMIT_MS);
  const { signal } = limit;
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message as unknown),
      once(child, 'exit', { signal }).then(() => 'the process ended'),
    ]);
  } catch {
    child.kill('SIGKILL');
    return 'it did not come to an end';
  } finally {
    clearTimeout(timer);
    limit.abort();
  }
}

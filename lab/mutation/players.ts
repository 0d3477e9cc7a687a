/** Which of the changes that are built into a copy do cases notice? */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Order, Ready, Report } from './player.js';

/** A change that keeps one process this long over one order goes round for ever. */
const LIMIT_MS = 300_000;
/** Few enough that a busy machine plays them in a small part of the limit. */
const CASES_AN_ORDER = 40;
const PLAYERS = Math.min(2, availableParallelism());

export type Noticed = (id: number, by: string | undefined) => void;

/** Says of each of `count` changes which case noticed it, as soon as that is known. */
export async function playAll(folder: string, count: number, say: Noticed): Promise<void> {
  const players = await Promise.all(Array.from({ length: PLAYERS }, () => startPlayer(folder)));
  const sound = await playSound(players).catch((error: unknown) => {
    // They would keep this process alive.
    for (const player of players) player.stop();
    throw error;
  });
  const ids = [...Array(count).keys()];
  await Promise.all(
    players.map(async (first) => {
      let player = first;
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
        let noticed = await player.noticing(id, casesThatDiffer(sound, id));
        if (player.ended()) player = await startPlayer(folder);
        if (noticed === undefined && sound.atLoad.has(id))
          noticed = await fromTheStart(folder, { id, cases: sound.cases });
        say(id, noticed);
      }
      player.stop();
    }),
  );
}

/** How the cases go without a change. */
interface Sound {
  /** All, the cheapest first. */
  readonly cases: readonly number[];
  /** By case: the changes that would have made a difference. */
  readonly differed: ReadonlyMap<number, ReadonlySet<number>>;
  /** Changes that would have made one while sources and cases were loaded. */
  readonly atLoad: ReadonlySet<number>;
}

/** Throws when a case fails, because it would seem to notice each change. */
async function playSound(players: readonly Player[]): Promise<Sound> {
  const orders = ordersOf([...Array(players[0]!.cases).keys()]);
  const costs = new Map<number, number>();
  const differed = new Map<number, ReadonlySet<number>>();
  const atLoad = new Set<number>();
  await Promise.all(
    players.map(async (player) => {
      for (let cases = orders.shift(); cases !== undefined; cases = orders.shift()) {
        const report = await player.follow({ cases });
        if (typeof report === 'string') throw new Error(`The cases cannot be played: ${report}`);
        if (report.noticed !== undefined)
          throw new Error(`A case fails without a change: ${report.noticed}`);
        for (const [at, index] of cases.entries()) {
          costs.set(index, report.costs[at]!);
          differed.set(index, new Set(report.differed[at]));
        }
        for (const id of report.atLoad) atLoad.add(id);
      }
    }),
  );
  const cases = [...costs.keys()].toSorted((a, b) => costs.get(a)! - costs.get(b)!);
  return { cases, differed, atLoad };
}

/** Only they can notice the change. */
function casesThatDiffer({ cases, differed }: Sound, id: number): readonly number[] {
  return cases.filter((index) => differed.get(index)!.has(id));
}

function ordersOf(cases: readonly number[]): (readonly number[])[] {
  return Array.from({ length: Math.ceil(cases.length / CASES_AN_ORDER) }, (_, at) =>
    cases.slice(at * CASES_AN_ORDER, (at + 1) * CASES_AN_ORDER),
  );
}

/** What is decided as the sources are loaded is decided once: another process loads them. */
async function fromTheStart(
  folder: string,
  { id, cases }: { readonly id: number; readonly cases: readonly number[] },
): Promise<string | undefined> {
  try {
    const player = await startPlayer(folder, id);
    const noticed = await player.noticing(id, cases);
    player.stop();
    return noticed;
  } catch (error) {
    return (error as Error).message;
  }
}

interface Player {
  /** How many cases there are. */
  readonly cases: number;
  /** A text says why there is no report: the process has ended. */
  follow(order: Order): Promise<Report | string>;
  /** Which of the cases noticed the change. */
  noticing(mutant: number, cases: readonly number[]): Promise<string | undefined>;
  ended(): boolean;
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
  let ended = false;
  const follow = async (order: Order): Promise<Report | string> => {
    child.send(order);
    const report = (await answerOf(child)) as Report | string;
    ended = typeof report === 'string';
    return report;
  };
  return {
    cases: (ready as Ready).cases,
    follow,
    async noticing(mutant, cases) {
      for (const some of ordersOf(cases)) {
        const report = await follow({ mutant, cases: some });
        const noticed = typeof report === 'string' ? report : report.noticed;
        if (noticed !== undefined) return noticed;
      }
      return undefined;
    },
    ended: () => ended,
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

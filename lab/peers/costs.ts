/** The time and the bytes of a turn of each peer, their runs in turn. */
import { historySize } from '../bench/history-size.js';
import { median } from '../bench/statistics.js';
import { bytesInPostgres, bytesInStore, type Contestant } from './contestants.js';
import { startPeer, type PeerProcess } from './peer-process.js';
import { goalOf, type Task } from './task.js';
import type { Entrant, Ground } from './trials.js';

/** Of one length. */
export interface Cost {
  readonly turns: number;
  /** Medians of the rounds, ms. */
  readonly msPerTurn: number;
  /** Histories, and what the peer keeps beside them. */
  readonly bytesPerTurn: number;
}

export interface CostOptions {
  readonly lengths: readonly number[];
  readonly rounds: number;
}

const RUN_LIMIT_MS = 300_000;

interface Running extends Entrant {
  readonly process: PeerProcess;
}

export async function costsOf(
  entrants: readonly Entrant[],
  ground: Ground,
  { lengths, rounds }: CostOptions,
): Promise<ReadonlyMap<Contestant, readonly Cost[]>> {
  const running: Running[] = [];
  const costs = new Map<Contestant, readonly Cost[]>();
  try {
    for (const one of entrants) {
      const entered = { ...one, process: await startPeer(one.peer, one.settings) };
      running.push(entered);
      await timed(entered, { run: `${one.peer.name}-warm`, reads: 20, pays: false });
    }
    for (const turns of lengths) {
      const found = await costsAt(running, ground, { turns, rounds });
      for (const [peer, cost] of found) costs.set(peer, [...(costs.get(peer) ?? []), cost]);
    }
  } finally {
    await Promise.all(running.map(({ process }) => process.kill()));
  }
  return costs;
}

async function costsAt(
  running: readonly Running[],
  { client, say }: Ground,
  { turns, rounds }: { readonly turns: number; readonly rounds: number },
): Promise<ReadonlyMap<Contestant, Cost>> {
  const nameOf = ({ peer }: Entrant, round: number) => `${peer.name}-${turns}-${round}`;
  const every = Array.from({ length: rounds }, (_, round) => round);
  const before = await Promise.all(running.map(bytesKept));
  const times = running.map((): number[] => []);
  // The peer that goes first changes from round to round.
  const order = every.flatMap((round) =>
    running.map((_, at) => ({ round, place: (at + round) % running.length })),
  );
  for (const { round, place } of order) {
    const one = running[place]!;
    const task = { run: nameOf(one, round), reads: turns - 1, pays: false };
    times[place]!.push((await timed(one, task)) / turns);
  }
  const costs = new Map<Contestant, Cost>();
  for (const [place, one] of running.entries()) {
    const names = one.peer.keepsInPostgres ? [] : every.map((round) => nameOf(one, round));
    const sizes = await Promise.all(names.map((name) => historySize(client, name)));
    const histories = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
    const kept = (await bytesKept(one)) - before[place]!;
    const msPerTurn = median(times[place]!);
    const bytesPerTurn = Math.round((kept + histories) / rounds / turns);
    costs.set(one.peer, { turns, msPerTurn, bytesPerTurn });
    const said = `${msPerTurn.toFixed(1)} ms and ${bytesPerTurn} bytes a turn`;
    say(`${one.peer.title}, ${turns} turns: ${said}`);
  }
  return costs;
}

async function bytesKept({ peer, settings }: Entrant): Promise<number> {
  if (peer.keepsInPostgres) return bytesInPostgres(settings.databaseUrl!);
  return settings.storePlace === undefined ? 0 : bytesInStore(settings.storePlace);
}

async function timed({ process }: Running, task: Task): Promise<number> {
  const began = performance.now();
  process.does({ does: 'start', run: task.run, goal: goalOf(task) });
  const heard = await process.next(task.run, RUN_LIMIT_MS);
  if (heard.is !== 'ended') throw new Error(`the run did not end: ${JSON.stringify(heard)}`);
  return performance.now() - began;
}

/** What is tried with each peer: the time and the bytes of a turn, a kill around a payment, an approval after a restart. */
import type { Client } from '@temporalio/client';
import { historySize } from '../bench/history-size.js';
import { median } from '../bench/statistics.js';
import { bytesInPostgres, bytesInStore, type Contestant } from './contestants.js';
import type { Moment, Outside } from './outside.js';
import { startPeer, type Heard, type PeerProcess } from './peer-process.js';
import type { PeerSettings } from './protocol.js';
import { goalOf, type Task } from './task.js';

export interface Entrant {
  readonly peer: Contestant;
  /** Of its place; what is tried adds the rest. */
  readonly settings: PeerSettings;
}

export interface Ground {
  readonly outside: Outside;
  readonly client: Client;
  readonly say: (line: string) => void;
}

/** Of one length. */
export interface Cost {
  readonly turns: number;
  /** Medians of the rounds, ms. */
  readonly msPerTurn: number;
  /** Histories, and what the peer keeps beside them. */
  readonly bytesPerTurn: number;
}

/** After a kill. */
export interface AfterKill {
  readonly moment: Moment;
  readonly keyed: boolean;
  /** What the service has booked. */
  readonly payments: number;
  readonly end: string;
  /** From the kill to that end, s. */
  readonly seconds: number;
}

export interface AfterRestart {
  readonly payments: number;
  readonly end: string;
}

const RUN_LIMIT_MS = 300_000;
/** Longer than any timeout of a default. */
const RECOVERY_LIMIT_MS = 150_000;

export async function costsOf(
  entrants: readonly Entrant[],
  ground: Ground,
  { lengths, rounds }: { readonly lengths: readonly number[]; readonly rounds: number },
): Promise<ReadonlyMap<Contestant, readonly Cost[]>> {
  const costs = new Map<Contestant, Cost[]>();
  const running = new Map<Entrant, PeerProcess>();
  try {
    for (const entrant of entrants) {
      const process = await startPeer(entrant.peer, entrant.settings);
      running.set(entrant, process);
      await timed(process, { run: `${entrant.peer.name}-warm`, reads: 20, pays: false });
    }
    for (const turns of lengths) {
      const times = new Map<Entrant, number[]>(entrants.map((one) => [one, []]));
      const before = new Map<Entrant, number>();
      for (const one of entrants) before.set(one, await bytesKept(one));
      const nameOf = ({ peer }: Entrant, round: number) => `${peer.name}-${turns}-${round}`;
      for (let round = 0; round < rounds; round += 1) {
        // Whoever is first changes from round to round.
        for (let place = 0; place < entrants.length; place += 1) {
          const one = entrants[(place + round) % entrants.length]!;
          const task = { run: nameOf(one, round), reads: turns - 1, pays: false };
          times.get(one)!.push((await timed(running.get(one)!, task)) / turns);
        }
      }
      for (const one of entrants) {
        const kept = (await bytesKept(one)) - before.get(one)!;
        let histories = 0;
        for (let round = 0; round < rounds && !one.peer.keepsInPostgres; round += 1) {
          histories += (await historySize(ground.client, nameOf(one, round))).bytes;
        }
        const cost: Cost = {
          turns,
          msPerTurn: median(times.get(one)!),
          bytesPerTurn: (kept + histories) / rounds / turns,
        };
        costs.set(one.peer, [...(costs.get(one.peer) ?? []), cost]);
        ground.say(
          `${one.peer.title}, ${turns} turns: ${cost.msPerTurn.toFixed(1)} ms and ${Math.round(cost.bytesPerTurn)} bytes a turn`,
        );
      }
    }
  } finally {
    await Promise.all([...running.values()].map((process) => process.kill()));
  }
  return costs;
}

async function bytesKept({ peer, settings }: Entrant): Promise<number> {
  if (peer.keepsInPostgres) return bytesInPostgres(settings.databaseUrl!);
  return settings.storePlace === undefined ? 0 : bytesInStore(settings.storePlace);
}

async function timed(process: PeerProcess, task: Task): Promise<number> {
  const began = performance.now();
  process.does({ does: 'start', run: task.run, goal: goalOf(task) });
  expectEnd(await process.next(task.run, RUN_LIMIT_MS));
  return performance.now() - began;
}

function expectEnd(heard: Heard): void {
  if (heard.is !== 'ended') throw new Error(`the run did not end: ${JSON.stringify(heard)}`);
}

/** Kills the process around the payment and begins it anew, with a person who approves and says nothing more. */
export async function afterKill(
  { peer, settings }: Entrant,
  { outside, say }: Ground,
  { moment, keyed }: Pick<AfterKill, 'moment' | 'keyed'>,
): Promise<AfterKill> {
  const run = `${peer.name}-kill-${moment}-${keyed ? 'keyed' : 'nokey'}`;
  const first = await startPeer(peer, { ...settings, keyed });
  const reached = outside.holdAt(moment, run);
  await approved(first, run);
  await reached;
  const killed = performance.now();
  await first.kill();
  const second = await startPeer(peer, { ...settings, keyed });
  try {
    second.does({ does: 'again', run });
    const end = endOf(await second.next(run, RECOVERY_LIMIT_MS).catch(nothing(run)));
    const seconds = (performance.now() - killed) / 1_000;
    const found: AfterKill = { moment, keyed, payments: outside.booked(run), end, seconds };
    const key = keyed ? 'with its key' : 'to a service without keys';
    const when = moment === 'booked' ? 'before the answer was heard' : 'right after it';
    say(
      `${peer.title}, killed ${when}, ${key}: ${found.payments} payments, ${end}, ${seconds.toFixed(0)} s`,
    );
    return found;
  } finally {
    await second.kill();
  }
}

const nothing =
  (run: string) =>
  (): Heard => ({ is: 'failed', run, error: 'nothing was heard of it in time' });

function endOf(heard: Heard): string {
  if (heard.is === 'ended') return 'ended';
  if (heard.is === 'failed') return `failed (${heard.error})`;
  return heard.for === 'outcome' ? 'a person is asked what happened' : 'a person is asked again';
}

/** Runs the task up to the payment, and has a person approve it. */
async function approved(process: PeerProcess, run: string): Promise<void> {
  process.does({ does: 'start', run, goal: goalOf({ run, reads: 3, pays: true }) });
  const heard = await process.next(run, RUN_LIMIT_MS);
  if (heard.is !== 'waiting') throw new Error(`nobody was asked: ${JSON.stringify(heard)}`);
  process.does({ does: 'approve', run });
}

/** Kills the process while a person is asked, begins it anew, and has the person approve. */
export async function afterRestart(
  { peer, settings }: Entrant,
  { outside, say }: Ground,
): Promise<AfterRestart> {
  const run = `${peer.name}-restart`;
  const first = await startPeer(peer, settings);
  first.does({ does: 'start', run, goal: goalOf({ run, reads: 3, pays: true }) });
  await first.next(run, RUN_LIMIT_MS);
  await first.kill();
  const second = await startPeer(peer, settings);
  try {
    second.does({ does: 'again', run });
    const asked = await second.next(run, RECOVERY_LIMIT_MS).catch(nothing(run));
    if (asked.is === 'waiting') second.does({ does: 'approve', run });
    const heard =
      asked.is === 'waiting'
        ? await second.next(run, RECOVERY_LIMIT_MS).catch(nothing(run))
        : asked;
    const found = { payments: outside.booked(run), end: endOf(heard) };
    say(`${peer.title}, approved after a restart: ${found.payments} payments, ${found.end}`);
    return found;
  } finally {
    await second.kill();
  }
}

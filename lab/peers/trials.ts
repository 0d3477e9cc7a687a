/** What is tried with each peer: a kill around a payment, and an approval after a restart. */
import type { Client } from '@temporalio/client';
import type { Contestant } from './contestants.js';
import type { Moment, Outside } from './outside.js';
import { startPeer, type Heard, type PeerProcess } from './peer-process.js';
import type { PeerSettings } from './protocol.js';
import { goalOf } from './task.js';

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
    const end = await endBehindAsks(second, run);
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

const nothing = (run: string) => (): Heard => ({
  is: 'failed',
  run,
  error: 'nothing was heard of it in time',
});

/** Whoever is asked whether to pay approves again; what happened nobody here can say. */
async function endBehindAsks(process: PeerProcess, run: string): Promise<string> {
  const heard = await process.next(run, RECOVERY_LIMIT_MS).catch(nothing(run));
  if (heard.is === 'ended') return 'ended';
  if (heard.is === 'failed') return `failed (${heard.error})`;
  if (heard.for === 'outcome') return 'a person is asked what happened';
  process.does({ does: 'approve', run });
  const next = await process.next(run, RECOVERY_LIMIT_MS).catch(nothing(run));
  return next.is === 'ended' ? 'ended behind a question' : `no end (${next.is})`;
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
    const end = await endBehindAsks(second, run);
    const found = { payments: outside.booked(run), end };
    say(`${peer.title}, approved after a restart: ${found.payments} payments, ${found.end}`);
    return found;
  } finally {
    await second.kill();
  }
}

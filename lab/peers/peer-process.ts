/** A process of a peer that can be killed, and what is heard of its runs. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Contestant } from './contestants.js';
import {
  fromPeer,
  SETTINGS_VARIABLE,
  type FromPeer,
  type PeerSettings,
  type ToPeer,
} from './protocol.js';

export type Heard = Extract<FromPeer, { readonly run: string }>;

export interface PeerProcess {
  does(order: ToPeer): void;
  /** The next that is heard of a run. Errors: none in time; the process has ended. */
  next(run: string, limitMs: number): Promise<Heard>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

const START_LIMIT_MS = 60_000;

export async function startPeer(
  { entry, execArgv, title }: Contestant,
  settings: PeerSettings,
): Promise<PeerProcess> {
  const child = fork(entry, [], {
    execArgv: [...execArgv],
    env: { ...process.env, [SETTINGS_VARIABLE]: JSON.stringify(settings) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  /** What nobody has taken yet, oldest first. */
  let heard: readonly FromPeer[] = [];
  const listeners = new Set<() => void>();
  const told = (): void => {
    for (const listener of listeners) listener();
  };
  child.on('message', (message) => {
    heard = [...heard, fromPeer.parse(message)];
    told();
  });
  child.on('exit', told);
  const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null;

  const taken = (wanted: (message: FromPeer) => boolean, limitMs: number): Promise<FromPeer> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => done(new Error(`nothing heard of ${title} in time`)), limitMs);
      const look = (): void => {
        const found = heard.find(wanted);
        if (found !== undefined) done(found);
        else if (isGone()) done(new Error(`the process of ${title} has ended`));
      };
      function done(outcome: FromPeer | Error): void {
        clearTimeout(late);
        listeners.delete(look);
        if (outcome instanceof Error) return reject(outcome);
        heard = heard.filter((one) => one !== outcome);
        resolve(outcome);
      }
      listeners.add(look);
      look();
    });

  await taken(({ is }) => is === 'serving', START_LIMIT_MS);
  return {
    does: (order) => void child.send(order),
    next: async (run, limitMs) => {
      const found = await taken((one) => 'run' in one && one.run === run, limitMs);
      return found as Heard;
    },
    async kill() {
      if (isGone()) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

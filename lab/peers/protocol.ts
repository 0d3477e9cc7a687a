/** What the process of a peer and the trial say to each other, and the settings that such a process is given. */
import { z } from 'zod';

export const SETTINGS_VARIABLE = 'PEER_SETTINGS';

export const peerSettings = z.object({
  modelUrl: z.string(),
  serviceUrl: z.string(),
  /** The payment carries the key that the documentation of the peer names. */
  keyed: z.boolean(),
  /** Of PostgreSQL, for peers that keep their state there. */
  databaseUrl: z.string().optional(),
  /** Of Temporal's server, for peers that keep their state there. */
  address: z.string().optional(),
  /** Of Holdfast's store. */
  storePlace: z.string().optional(),
});

export type PeerSettings = z.output<typeof peerSettings>;

export interface ToPeer {
  /** `again`: after a restart, what the caller has to do for the run to go on, or nothing but to watch it. */
  readonly does: 'start' | 'approve' | 'again';
  readonly run: string;
  /** Of a start. */
  readonly goal?: string;
}

export const fromPeer = z.discriminatedUnion('is', [
  z.object({ is: z.literal('serving') }),
  z.object({
    is: z.literal('waiting'),
    run: z.string(),
    /** A person is asked before the payment, or what became of one of which nobody heard. */
    for: z.enum(['approval', 'outcome']),
  }),
  z.object({ is: z.literal('ended'), run: z.string() }),
  z.object({ is: z.literal('failed'), run: z.string(), error: z.string() }),
]);

export type FromPeer = z.output<typeof fromPeer>;

export function settingsOfPeer(): PeerSettings {
  return peerSettings.parse(JSON.parse(process.env[SETTINGS_VARIABLE] ?? '{}'));
}

export interface Peer {
  start(run: string, goal: string): Promise<void>;
  approve(run: string): Promise<void>;
  again(run: string): Promise<void>;
}

export function tell(message: FromPeer): void {
  process.send?.(message);
}

/** Answers the trial until it is gone. */
export function servePeer(peer: Peer): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ does, run, goal = '' }: ToPeer) => {
    const work =
      does === 'start'
        ? peer.start(run, goal)
        : does === 'approve'
          ? peer.approve(run)
          : peer.again(run);
    work.catch((error: unknown) => tell({ is: 'failed', run, error: String(error) }));
  });
  tell({ is: 'serving' });
}

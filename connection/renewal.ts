/**
 * Credentials that change while a process runs: certificates and keys are rotated without a restart.
 * Invariant: what cannot be used (a file half written, a certificate that the server refuses) changes nothing, is
 * told once, and is looked at again.
 */
import {
  credentialsOf,
  metadataDigest,
  tlsDigest,
  type Credentials,
  type Reach,
} from './access.js';

const EVERY_MS = 30_000;

export interface Change {
  readonly credentials: Credentials;
  /** Only a new connection shakes hands anew. */
  readonly tls: boolean;
  readonly metadata: boolean;
  readonly apiKey: boolean;
}

export interface Renewal {
  stop(): Promise<void>;
}

export interface RenewalWork {
  readonly apply: (change: Change) => Promise<void>;
  /** What an operator should know; nothing secret is in it. */
  readonly say: (line: string) => void;
}

/** Undefined: what there is stays. */
export function startRenewal(reach: Reach, { apply, say }: RenewalWork): Renewal | undefined {
  const { renew, renewEveryMs = EVERY_MS } = reach;
  if (renew === undefined) return undefined;
  let current = credentialsOf(reach);
  let lastTold: string | undefined;
  let running: Promise<void> | undefined;

  async function look(): Promise<void> {
    try {
      const next = await renew!();
      const change = changeOf(current, next);
      if (change !== undefined) {
        await apply(change);
        current = next;
        say(`The credentials for the Temporal server have changed: ${changed(change)}.`);
      }
      lastTold = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== lastTold) say(`New credentials cannot be used, the old ones stay: ${why}`);
      lastTold = why;
    }
  }

  const timer = setInterval(() => {
    running ??= look().finally(() => (running = undefined));
  }, renewEveryMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

function changeOf(before: Credentials, next: Credentials): Change | undefined {
  const change = {
    credentials: next,
    tls: tlsDigest(before) !== tlsDigest(next),
    metadata: metadataDigest(before) !== metadataDigest(next),
    apiKey: before.apiKey !== next.apiKey,
  };
  return change.tls || change.metadata || change.apiKey ? change : undefined;
}

function changed({ tls, metadata, apiKey }: Change): string {
  const names = [tls && 'certificates', apiKey && 'API key', metadata && 'metadata'];
  return names.filter((name) => name !== false).join(', ');
}
